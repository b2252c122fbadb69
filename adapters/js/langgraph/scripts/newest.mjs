// Runs the tests with the newest versions of LangGraph, in a copy of this package. It does nothing if the pinned versions are the newest.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const described = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const newest = {}
for (const name of Object.keys(described.devDependencies).filter((each) => each.startsWith('@langchain/'))) {
  newest[name] = JSON.parse(execFileSync('npm', ['view', name, 'version', '--json'], { cwd: root, encoding: 'utf8' }))
}
const newer = Object.entries(newest).filter(([name, version]) => version !== described.devDependencies[name])
if (newer.length === 0) {
  console.log(`the pinned versions are the newest: ${Object.entries(newest).map(([name, version]) => `${name} ${version}`).join(', ')}`)
  process.exit(0)
}
console.log(`newer than pinned: ${newer.map(([name, version]) => `${name} ${version}, not ${described.devDependencies[name]}`).join('; ')}`)
const copy = mkdtempSync(join(tmpdir(), 'dormouse-langgraph-'))
try {
  for (const name of ['src', 'test', 'README.md', 'tsconfig.json', 'vitest.config.ts', '.npmrc']) cpSync(join(root, name), join(copy, name), { recursive: true })
  Object.assign(described.devDependencies, newest)
  described.dependencies['@dormouse/client'] = `file:${join(root, '../../../sdk/js')}`
  writeFileSync(join(copy, 'package.json'), JSON.stringify(described))
  const run = (...args) => execFileSync('npm', args, { cwd: copy, stdio: 'inherit' })
  run('install', '--silent')
  run('test', '--silent')
} finally {
  rmSync(copy, { recursive: true, force: true })
}
