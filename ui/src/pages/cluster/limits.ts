import type { Schemas } from '../../api/client.js'
import { bytes, full } from '../../parts/format.js'

export type Policy = Schemas['PolicyBody']

/** A limit of a policy, as people read and write it. */
export interface Limit {
  name: keyof Policy
  title: string
  unit: 'count' | 'bytes' | 'time'
  /** What an empty field means. */
  none: string
  /** What the limit counts, if the title does not say it. */
  of?: string
}

/** The limits of a policy in groups, in the order of the form. */
export const groups: readonly { title: string; limits: readonly Limit[] }[] = [
  { title: 'What the scope holds', limits: [
    { name: 'keys_max', title: 'Keys', unit: 'count', none: 'no limit' },
    { name: 'bytes_max', title: 'Bytes', unit: 'bytes', none: 'no limit' },
    { name: 'agents_max', title: 'Agents', unit: 'count', none: 'no limit' },
    { name: 'threads_max', title: 'Threads', unit: 'count', none: 'no limit' },
    { name: 'entries_max', title: 'Entries', unit: 'count', none: 'no limit' },
    { name: 'timers_max', title: 'Timers', unit: 'count', none: 'no limit' },
  ] },
  { title: 'On each node', limits: [
    { name: 'requests_per_second', title: 'Requests', unit: 'count', none: 'no limit', of: 'a second' },
    { name: 'bytes_per_second', title: 'Traffic', unit: 'bytes', none: 'no limit', of: 'a second' },
    { name: 'watches_max', title: 'Watches', unit: 'count', none: 'no limit', of: 'at once' },
    { name: 'awake_max', title: 'Awake instances', unit: 'count', none: 'no limit' },
  ] },
  { title: 'What is kept', limits: [
    { name: 'history', title: 'History', unit: 'count', none: '4', of: 'checkpoints' },
    { name: 'history_age_ms', title: 'Age of history', unit: 'time', none: 'no limit' },
    { name: 'memories_max', title: 'Memories', unit: 'count', none: '100,000', of: 'of an agent' },
    { name: 'memory_bytes_max', title: 'Memory', unit: 'bytes', none: '256 MiB', of: 'bytes of an agent' },
    { name: 'changes_max', title: 'Changes', unit: 'count', none: '100,000', of: 'at least' },
  ] },
]

/** The limit on the age of checkpoints that were replaced. */
export const ageLimit: Limit = groups[2]!.limits[1]!

const sizes: Readonly<Record<string, number>> = { '': 1, b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 }
const times: Readonly<Record<string, number>> = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns a limit as text that read accepts, without loss; an empty text for none. */
export function write(limit: Limit, n: number | null | undefined): string {
  if (!n) return ''
  const units = limit.unit === 'bytes' ? [['TiB', 'tib'], ['GiB', 'gib'], ['MiB', 'mib'], ['KiB', 'kib']] : limit.unit === 'time' ? [['d', 'd'], ['h', 'h'], ['min', 'min'], ['s', 's'], ['ms', 'ms']] : []
  const by = limit.unit === 'bytes' ? sizes : times
  const fits = units.find(([, key]) => n % by[key!]! === 0)
  return fits ? `${full(n / by[fits[1]!]!)} ${fits[0]}` : full(n)
}

/** Returns the number that a text means, 0 for an empty one. It throws an error for people if it is none. */
export function read(limit: Limit, text: string): number {
  if (text.trim() === '') return 0
  const found = /^([\d,]*\d(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim())
  const unit = found?.[2]!.toLowerCase() ?? ''
  const by = limit.unit === 'bytes' ? sizes[unit] : limit.unit === 'time' ? times[unit] : unit === '' ? 1 : undefined
  const n = found && by ? Math.round(Number(found[1]!.replaceAll(',', '')) * by) : NaN
  if (!Number.isSafeInteger(n) || n < 0) {
    const like = limit.unit === 'bytes' ? '500 MiB or 1 GiB' : limit.unit === 'time' ? '36 h or 30 d' : '10,000'
    throw new Error(`${limit.title}: “${text}” is not a limit. Write a number such as ${like}, or leave the field empty.`)
  }
  return n
}

/** Returns the use of a scope as people read it. */
export const used = (limit: Limit, n: number): string => (limit.unit === 'bytes' ? bytes(n) : full(n))
