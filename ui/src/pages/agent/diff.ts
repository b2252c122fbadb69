/** One difference of two JSON values: what a path held before, and what it holds after. */
export interface Difference {
  path: string
  before: unknown
  after: unknown
}

const isTree = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null

/** Returns the differences of two values, in the order of their paths; undefined stands for no member. */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (Object.is(before, after)) return []
  if (!isTree(before) || !isTree(after) || Array.isArray(before) !== Array.isArray(after)) return [{ path: path || '(all)', before, after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => differences(before[name], after[name], path ? `${path}.${name}` : name))
}
