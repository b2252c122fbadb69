import { RefusedError, refusal } from './errors.js'
import type { ServerEvent } from './events.js'
import type { CallOptions, Request } from './transport.js'
import type { Change, Changed, Claim, Entry, Schemas } from './types.js'

/** Follows the events of a request, after the event with the id `last`. */
export type Follow = (request: Request, last?: string) => AsyncGenerator<ServerEvent, void, undefined>

/** What a watch of changes takes. */
export type ChangesOptions = CallOptions & { prefix?: string; fromIndex?: number; after?: string }

/** What a watch of a thread takes. The incarnation is that of the thread, to continue in another process; absent, it is the current one. */
export type ThreadOptions = CallOptions & { from?: number; incarnation?: number }

/** Follows all changes of a scope, each once. */
export async function* watchChanges(follow: Follow, options: ChangesOptions): AsyncGenerator<Changed, void, undefined> {
  const { prefix, fromIndex, after, ...rest } = options
  const request: Request = { ...rest, method: 'GET', path: '/v1/changes', query: { prefix, from_index: fromIndex } }
  for await (const event of follow(request, after)) {
    if (event.event === 'compacted') throw ended('compacted', 'the feed no longer has the changes after this place', event.data)
    if (event.event === 'change') yield { change: JSON.parse(event.data) as Change, place: event.id }
  }
}

/**
 * Passes on the entries of a thread from a seq on, each once. It throws a refusal when the thread is deleted or compacted.
 * current returns the incarnation of the thread, which tells a thread of the same id that was created later.
 */
export async function* watchThread(follow: Follow, id: string, options: ThreadOptions, current: () => Promise<number | undefined>): AsyncGenerator<Entry, void, undefined> {
  const { from = 0, incarnation = await current(), ...rest } = options
  const request: Request = { ...rest, method: 'GET', path: '/v1/threads/{id}/watch', params: { id }, query: { from, incarnation } }
  let next = from
  for await (const event of follow(request)) {
    if (event.event === 'compacted' || event.event === 'deleted') throw ended(event.event, `the thread ${id} is ${event.event}`, event.data)
    if (event.event !== 'entry') continue
    const entry = JSON.parse(event.data) as Entry
    if (entry.seq < next) continue
    next = entry.seq + 1
    yield entry
  }
}

/** Passes on the holders of a claim, the current one first. A renewal brings no event. */
export async function* watchClaim(follow: Follow, name: string, options: CallOptions): AsyncGenerator<Claim, void, undefined> {
  const request: Request = { ...options, method: 'GET', path: '/v1/claims/{name}/watch', params: { name } }
  let before: number | undefined
  for await (const event of follow(request)) {
    if (event.event !== 'claim') continue
    const claim = JSON.parse(event.data) as Claim
    const epoch = claim.holder ? (claim.epoch ?? 0) : 0
    // A stream begins with the current holder, also after a lost connection.
    if (epoch === before) continue
    before = epoch
    yield claim
  }
}

/** Returns the refusal that the last event of a watch is. */
function ended(code: 'compacted' | 'deleted', detail: string, data: string): RefusedError {
  const { floor } = JSON.parse(data) as Schemas['WatchEnd']
  return new RefusedError({ ...refusal(code, detail, 410).problem, ...(floor === undefined ? {} : { floor }) })
}
