import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** Returns the address of a module of the console, with the modules that it imports. */
function addressOf(path: string): string {
  const { outputText } = ts.transpileModule(readFileSync(path, 'utf8'), { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } })
  const whole = outputText.replace(/(from )'(\.[^']*)\.js'/g, (_all, from: string, name: string) => `${from}'${addressOf(join(dirname(path), `${name}.ts`))}'`)
  return `data:text/javascript,${encodeURIComponent(whole).replaceAll("'", '%27')}`
}

/** Loads a module of the console, by its path from the directory ui. It must not need a browser. */
export const load = async <T>(path: string): Promise<T> => await import(addressOf(path)) as T
