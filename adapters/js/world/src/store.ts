import { RefusedError, type Client, type Entry, type Op, type Read } from '@dormouse/client'
import type { PaginatedResponse, PaginationOptions } from '@workflow/world'
import { decode, encode } from './codec.js'

const contentType = 'application/vnd.dormouse.workflow+json'

/** The most items of a page. */
const pageMax = 1000

/** The items of a page without a limit. */
const pageDefault = 100

/** A value as it was read. */
export interface Stored<T> {
  body: T
  incarnation: number
  revision: number
}

/** What a value must be for an op on it to apply. A revision counts in one incarnation. */
export interface Condition {
  if_revision?: number
  if_incarnation?: number
}

/** Returns the condition that a value is as it was read: absent if it was not found. */
export const unchanged = (seen: Stored<unknown> | undefined): Condition => (seen ? { if_incarnation: seen.incarnation, if_revision: seen.revision } : { if_revision: 0 })

/** Returns an op that stores a value. */
export const put = (key: string, body: unknown, condition: Condition = {}, ttlMs?: number): Op => ({
  op: 'put_value', key, content_type: contentType, bytes: Buffer.from(encode(body)).toString('base64'), ...condition, ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }),
})

/** Returns an op that deletes a value; only the one that was read, if it is given. */
export const remove = (key: string, seen?: Stored<unknown>): Op => ({
  op: 'delete_value', key, ...(seen ? unchanged(seen) : {}),
})

/** Returns what put was given. */
export const bodyOf = <T>(bytes: string | undefined): T => decode<T>(Buffer.from(bytes ?? '', 'base64').toString())

/** Answers several reads at one index; undefined for what does not exist. */
export async function read(client: Client, reads: Read[]): Promise<unknown[]> {
  const { answers } = await client.read(reads)
  return answers.map(({ found, error }) => {
    if (!error) return found
    if (error.code === 'not_found' || error.code === 'deleted') return undefined
    throw new RefusedError(error)
  })
}

/** Returns the body of a value that get_value found. */
export function value<T>(found: unknown): Stored<T> | undefined {
  const each = found as { bytes: string; incarnation: number; revision: number } | undefined
  return each && { body: bodyOf<T>(each.bytes), incarnation: each.incarnation, revision: each.revision }
}

/** Reads one value. */
export async function get<T>(client: Client, key: string): Promise<T | undefined> {
  const [found] = await read(client, [{ read: 'get_value', key }])
  return value<T>(found)?.body
}

/** Reads all values below a prefix, in the order of their keys, from a key on. */
export async function* scan<T>(client: Client, prefix: string, order: 'asc' | 'desc' = 'asc', from?: string): AsyncGenerator<{ key: string; body: T }, void, undefined> {
  for (let after = from; ;) {
    const [page] = await read(client, [{ read: 'list_values', prefix, body: true, order, limit: pageDefault, ...(after === undefined ? {} : { after }) }])
    const { items, next } = page as { items: { key: string; body?: string }[]; next: string | null }
    for (const { key, body } of items) yield { key, body: bodyOf<T>(body) }
    if (next === null) return
    after = next
  }
}

/** Returns a page of the values below a prefix that match. The cursor is the key of the last one. */
export async function page<T>(
  client: Client, prefix: string, options: PaginationOptions | undefined, order: 'asc' | 'desc', matches: (body: T) => boolean = () => true,
): Promise<PaginatedResponse<T>> {
  const limit = Math.min(options?.limit ?? pageDefault, pageMax)
  const data: T[] = []
  let cursor = options?.cursor ?? null
  for await (const { key, body } of scan<T>(client, prefix, options?.sortOrder ?? order, options?.cursor)) {
    if (!matches(body)) continue
    if (data.length === limit) return { data, cursor, hasMore: true }
    data.push(body)
    cursor = key
  }
  return { data, cursor, hasMore: false }
}

/** Returns a page of the entries of a thread. The cursor is the seq of the last one. */
export async function entries<T>(
  client: Client, thread: string, options: PaginationOptions | undefined, decoded: (entry: Entry) => T,
): Promise<PaginatedResponse<T>> {
  const limit = Math.min(options?.limit ?? pageDefault, pageMax)
  const order = options?.sortOrder ?? 'asc'
  const place = options?.cursor === undefined ? undefined : Number(options.cursor)
  if (place !== undefined && !Number.isSafeInteger(place)) throw new Error(`invalid cursor ${JSON.stringify(options?.cursor)}: use the cursor of the page before`)
  const data: T[] = []
  let cursor = options?.cursor ?? null
  // An answer may have fewer entries than were asked for, since its size is bounded.
  if (order === 'desc' && place === 0) return { data, cursor, hasMore: false }
  let start = place === undefined ? undefined : place + (order === 'asc' ? 1 : -1)
  while (data.length < limit) {
    const range = start === undefined ? {} : order === 'asc' ? { from: start } : { to: start }
    const [found] = await read(client, [{ read: 'load_entries', thread, order, limit: limit - data.length + 1, ...range }])
    const { items, next } = (found ?? { items: [], next: null }) as { items: Entry[]; next: number | null }
    for (const entry of items) {
      if (data.length === limit) return { data, cursor, hasMore: true }
      data.push(decoded(entry))
      cursor = String(entry.seq)
    }
    if (next === null) break
    start = next
  }
  return { data, cursor, hasMore: false }
}
