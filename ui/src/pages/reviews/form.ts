import { isNumber, numberOf, parse } from '../../api/exact.js'

/** One member of a review's arguments, as a field of a form. */
export interface Argument {
  name: string
  kind: 'text' | 'long' | 'number' | 'boolean' | 'choice' | 'json'
  label: string
  hint: string
  choices: readonly Choice[]
}

/** A value that a person may choose, and its text. */
export interface Choice {
  text: string
  value: unknown
}

type Schema = Record<string, unknown>

const isObject = (v: unknown): v is Schema => typeof v === 'object' && v !== null && !Array.isArray(v)

/**
 * Returns the fields of a review. The metadata member schema or arguments_schema may hold a JSON Schema, which names the types, the
 * descriptions and the choices. Without one, the types follow from the values.
 */
export function argumentsOf(values: Schema, metadata: Schema): Argument[] {
  const schema = [metadata['arguments_schema'], metadata['schema']].find(isObject)
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  const names = [...new Set([...Object.keys(properties), ...Object.keys(values)])]
  return names.map((name) => {
    const of = isObject(properties[name]) ? properties[name] : {}
    const choices = Array.isArray(of['enum']) ? of['enum'].map((value: unknown) => ({ text: textOf(value), value })) : []
    const text = (member: string): string => (typeof of[member] === 'string' ? of[member] : '')
    return { name, label: text('title') || name, hint: text('description'), choices, kind: choices.length ? 'choice' : kindOf(text('type'), values[name]) }
  })
}

function kindOf(type: string, value: unknown): Argument['kind'] {
  if (type === 'boolean' || (!type && typeof value === 'boolean')) return 'boolean'
  if (type === 'number' || type === 'integer' || (!type && isNumber(value))) return 'number'
  if (type === 'object' || type === 'array' || (!type && typeof value === 'object')) return 'json'
  return typeof value === 'string' && (value.length > 60 || value.includes('\n')) ? 'long' : 'text'
}

/** Returns a value as the text of its field. */
export const textOf = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value))

/** Returns the value of a field's text. It throws an error for people if the text is none. */
export function valueOf(argument: Argument, text: string): unknown {
  switch (argument.kind) {
    case 'boolean':
      return text === 'true'
    case 'number': {
      const n = numberOf(text)
      if (n === undefined) throw new Error(`${argument.label} is not a number: ${text || 'it is empty'}`)
      return n
    }
    case 'json':
      try {
        return parse(text)
      } catch {
        throw new Error(`${argument.label} is not JSON: check quotes and brackets`)
      }
    case 'choice': {
      const chosen = argument.choices.find((c) => c.text === text)
      if (!chosen) throw new Error(`${argument.label} is none of its choices: ${text || 'it is empty'}`)
      return chosen.value
    }
    default:
      return text
  }
}
