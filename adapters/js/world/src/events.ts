import { RefusedError, type Client } from '@dormouse/client'
import { WorkflowWorldError } from '@workflow/errors'
import { isTerminalStepEventType, isTerminalWorkflowRunStatus, stripEventDataRefs, validateUlidTimestamp, type CreateEventParams, type Event, type EventResult, type Storage } from '@workflow/world'
import { ulid } from 'ulid'
import { Decision } from './decide.js'
import { eventOf, eventsOf } from './entities.js'
import { checkId, type Keys } from './keys.js'
import { fenceOf } from './owner.js'
import { Changes, endRest, stateFor, type EventRequest } from './state.js'
import { entries } from './store.js'

/** How often an event is decided again because another one came first. */
const decisionsMax = 100

/** Stores events. An event and the entities that it changes are one commit; the events of a run are decided one after the other. */
export function eventStorage(client: Client, keys: Keys): Storage['events'] {
  const create = async (given: string | null, data: EventRequest, params?: CreateEventParams): Promise<EventResult> => {
    if (!given && data.eventType !== 'run_created') throw new Error(`an event ${data.eventType} needs the id of its run`)
    const run = checkId('runId', given || `wrun_${ulid()}`)
    if ('correlationId' in data && data.correlationId) checkId('correlationId', data.correlationId)
    if (data.eventType === 'run_created' && given) {
      const invalid = validateUlidTimestamp(run, 'wrun_')
      if (invalid) throw new WorkflowWorldError(invalid)
    }
    const resolve = params?.resolveData ?? 'all'
    const decided = await decide(client, keys, run, data)
    const result: EventResult = { ...decided, ...(decided.event ? { event: stripEventDataRefs(decided.event, resolve) } : {}) }
    if (data.eventType === 'run_started' && decided.event && decided.run) Object.assign(result, await eventsFrom(client, keys, run, undefined))
    if (isTerminalStepEventType(data.eventType) && typeof params?.sinceCursor === 'string') {
      const since = await eventsFrom(client, keys, run, params.sinceCursor)
      Object.assign(result, since, { events: since.events.map((event) => stripEventDataRefs(event, resolve)) })
    }
    return result
  }
  return { ...eventsOf(client, keys), create: create as Storage['events']['create'] }
}

async function decide(client: Client, keys: Keys, run: string, data: EventRequest): Promise<EventResult> {
  for (let attempt = 1; ; attempt++) {
    const state = await stateFor(client, keys, run, data)
    // A process that ended the run may have died before it removed all that ends with the run.
    const { waits, hooks, more } = state.ends
    const isLeft = more || waits.length + hooks.length > 0
    if (isLeft && state.run && isTerminalWorkflowRunStatus(state.run.status)) await endRest(client, keys, run)
    const changes = new Changes(keys, run, state)
    const decided = new Decision(run, data, state, changes).decide()
    if (changes.events.length === 0) return decided
    try {
      await client.commit(changes.commit(), fenceOf(run))
      if (more) await endRest(client, keys, run)
      return decided
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      if (error.code === 'fenced') throw new WorkflowWorldError(`another process runs ${run} now: the event ${data.eventType} was not stored`, { cause: error })
      // The code is deleted if a token that was read was deleted since.
      if (!['conflict', 'revision_mismatch', 'deleted'].includes(error.code) || attempt === decisionsMax) throw error
    }
  }
}

async function eventsFrom(client: Client, keys: Keys, run: string, cursor: string | undefined): Promise<{ events: Event[]; cursor: string | null; hasMore: boolean }> {
  const found = await entries(client, keys.events(run), { limit: 1000, ...(cursor === undefined ? {} : { cursor }) }, eventOf)
  return { events: found.data, cursor: found.cursor, hasMore: found.hasMore }
}
