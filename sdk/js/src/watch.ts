import { RefusedError, type Problem } from './errors.js'
import { parseEvents, type ServerEvent } from './events.js'
import type { Request, Transport } from './transport.js'
import { Linked, sleep } from './wait.js'

/** The time without a sign of life after which a stream counts as lost: a node sends one each 15 s. */
const silenceMs = 45_000

/** The time within which a stream opens. */
const openingMs = 10_000

const lasting = new Set(['overloaded', 'unavailable', 'not_owner', 'unknown', 'internal'])

/**
 * Follows a stream of events until its caller stops. After a lost connection it continues at the next node, after
 * the id of the last event that it passed on, and waits longer after each stream without an event. It throws when the
 * signal is aborted, and refusals that another attempt would not change.
 */
export async function* follow(transport: Transport, request: Request, last = ''): AsyncGenerator<ServerEvent, void, undefined> {
  for (let attempt = 0; ; attempt++) {
    const endpoint = transport.endpoint
    const linked = new Linked(request.signal)
    let refused: RefusedError | undefined
    const alive = (within = silenceMs): void => linked.cancelIn(within, () => new Error('the stream is silent'))
    try {
      alive(openingMs)
      const headers = last ? { ...request.headers, 'Last-Event-ID': last } : request.headers
      const response = await transport.open({ ...request, headers }, linked.signal)
      alive()
      for await (const event of parseEvents(response.body!, alive)) {
        if (event.event === 'problem') throw new RefusedError(JSON.parse(event.data) as Problem)
        // A consumer that resumes by itself has had the event when it asks for the next one.
        if (event.data !== '') {
          attempt = 0
          yield event
        }
        if (event.id) last = event.id
      }
    } catch (error) {
      request.signal?.throwIfAborted()
      if (error instanceof RefusedError) refused = error
      if (refused && !lasting.has(refused.code)) throw refused
    } finally {
      linked.cancel(new Error('the stream is closed'))
      linked.release()
    }
    request.signal?.throwIfAborted()
    transport.leave(endpoint)
    await sleep(transport.pause(attempt, refused), request.signal)
  }
}
