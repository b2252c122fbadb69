import { isNumber } from '../../api/exact.js'

/** One difference of two JSON values: what a path held before, and what it holds after. */
export interface Difference {
  path: string
  before: unknown
  after: unknown
}

const isTree = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !isNumber(v)

/** Reports whether two values are the same leaf. A whole number that no double holds is an object. */
const same = (a: unknown, b: unknown): boolean => Object.is(a, b) || (isNumber(a) && isNumber(b) && JSON.stringify(a) === JSON.stringify(b))

/** Returns the differences of two values, in the order of their paths; undefined stands for no member. */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (same(before, after)) return []
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) return [{ path: path || '(all)', before, after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => differences(before[name], after[name], path ? `${path}.${name}` : name))
}
