import { createHash } from 'node:crypto'

/** Returns the start of the keys of a namespace and of all below it. Labels have no colons. */
export const below = (namespace: readonly string[]): string => namespace.map((label) => `${label}:`).join('')

/** Returns the start of the keys of a namespace. */
export const within = (namespace: readonly string[]): string => `${below(namespace)}:`

/** The most bytes of a memory's tag. */
const tagBytesMax = 128

/** What Dormouse trims from a tag, which ends with a colon. */
const outerSpace = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/

/** Returns the tag of the memories of a namespace and of all below it: a hash if Dormouse would refuse or trim the namespace. */
export function tagOf(namespace: readonly string[]): string {
  const tag = below(namespace)
  return Buffer.byteLength(tag) > tagBytesMax || outerSpace.test(tag) ? createHash('sha256').update(tag).digest('hex') : tag
}

/** The most bytes of a query for words. */
const queryBytesMax = 8192

/** Returns a query without outer white space; undefined if nothing is left. */
export function wordsOf(query: string | undefined): string | undefined {
  return query?.replace(/^[\s\u0085]+|[\s\u0085]+$/g, '') || undefined
}

/** Returns the beginning of a query, in whole characters, that Dormouse takes. */
export function clipped(query: string): string {
  // A decoder of a stream keeps the beginning of a last character back.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(query).subarray(0, queryBytesMax), { stream: true })
}

/** Splits what within and a key made. */
export function splitKey(text: string): { namespace: string[]; key: string } {
  const end = text.startsWith(':') ? 0 : text.indexOf('::') + 1
  return { namespace: end === 0 ? [] : text.slice(0, end - 1).split(':'), key: text.slice(end + 1) }
}

/** A step of a path: [0], [*], {a,b}, * or a member. */
const steps = /\[[^\]]*\]|\{[^}]*\}|[^.[\]{}]+/g

/** Returns the texts at a path such as title, chapters[*].content, {title,meta.author}, *.text or $, which is the whole value. */
export function textsAt(value: unknown, path: string): string[] {
  if (path === '$' || path === '') return [JSON.stringify(value)]
  const found = at(value, path.match(steps) ?? [])
  return found.filter((each) => each !== undefined && each !== null).map((each) => (typeof each === 'object' ? JSON.stringify(each) : String(each)))
}

function at(value: unknown, [first, ...rest]: readonly string[]): unknown[] {
  if (first === undefined) return [value]
  if (!first.startsWith('{')) return children(value, first).flatMap((each) => at(each, rest))
  // The members end the path: LangGraph ignores what follows.
  return first.slice(1, -1).split(',').map((field) => field.trim()).filter((field) => field !== '').flatMap((field) => at(value, field.match(steps) ?? []))
}

function children(value: unknown, step: string): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (step === '*') return Object.values(value)
  if (step.startsWith('[')) {
    const index = step.slice(1, -1).trim()
    if (!Array.isArray(value)) return []
    return index === '*' ? value : /^-?\d+$/.test(index) ? [value.at(Number(index))] : []
  }
  return Object.hasOwn(value, step) ? [(value as Record<string, unknown>)[step]] : []
}

const operators: Record<string, (a: unknown, b: unknown) => boolean> = {
  $eq: (a, b) => a === b,
  $ne: (a, b) => a !== b,
  $gt: (a, b) => Number(a) > Number(b),
  $gte: (a, b) => Number(a) >= Number(b),
  $lt: (a, b) => Number(a) < Number(b),
  $lte: (a, b) => Number(a) <= Number(b),
  $in: (a, b) => Array.isArray(b) && b.includes(a),
  $nin: (a, b) => !Array.isArray(b) || !b.includes(a),
}

/** Reports whether each member of a filter matches, as LangGraph's stores compare. */
export function matches(value: Record<string, unknown>, filter: Record<string, unknown> | undefined): boolean {
  return Object.entries(filter ?? {}).every(([name, wanted]) => {
    const own = Object.hasOwn(value, name) ? value[name] : undefined
    if (typeof wanted !== 'object' || wanted === null || Object.keys(wanted).some((each) => !Object.hasOwn(operators, each))) return own === wanted
    return Object.entries(wanted).every(([operator, operand]) => operators[operator]!(own, operand))
  })
}

/** Reports whether a namespace begins or ends with a path, in which * is any label. */
export function hasPath(namespace: readonly string[], path: readonly string[], at: 'prefix' | 'suffix'): boolean {
  const from = at === 'prefix' ? 0 : namespace.length - path.length
  return from >= 0 && path.length <= namespace.length && path.every((label, index) => label === '*' || label === namespace[from + index])
}
