import type { Client, Entry } from '@dormouse/client'
import { HookNotFoundError, WorkflowRunNotFoundError } from '@workflow/errors'
import {
  HookSchema, StepSchema, stripEventDataRefs, WorkflowRunSchema,
  type Event, type Hook, type ListEventsParams, type ListWorkflowRunsParams, type PaginationOptions, type ResolveData, type Step, type Storage, type WorkflowRun,
} from '@workflow/world'
import type { Keys } from './keys.js'
import { checkId } from './keys.js'
import { bodyOf, entries, get, page, read } from './store.js'

/** The kind of the entries of events. */
export const eventKind = 'event'

/** Returns the event of an entry. */
export const eventOf = (entry: Entry): Event => bodyOf<Event>(entry.bytes)

/** Returns a run or a step without its data, if that was asked for. */
function without<T extends WorkflowRun | Step>(entity: T, resolve: ResolveData | undefined): T {
  return resolve === 'none' ? { ...entity, input: undefined, output: undefined } : entity
}

function hookWithout(hook: Hook, resolve: ResolveData | undefined): Hook {
  if (resolve !== 'none') return hook
  const { metadata: _metadata, ...rest } = hook
  return rest
}

/** The reads of runs. */
export function runsOf(client: Client, keys: Keys): Pick<Storage['runs'], 'get' | 'list'> {
  return {
    get: (async (id: string, params?: { resolveData?: ResolveData }) => {
      const run = await get(client, keys.run(checkId('runId', id)))
      if (run === undefined) throw new WorkflowRunNotFoundError(id)
      return without(WorkflowRunSchema.parse(run), params?.resolveData)
    }) as Storage['runs']['get'],
    list: (async (params: ListWorkflowRunsParams = {}) => {
      const matches = (run: WorkflowRun): boolean => (!params.workflowName || run.workflowName === params.workflowName) && (!params.status || run.status === params.status)
      const found = await page<WorkflowRun>(client, keys.runs(), params.pagination, 'desc', matches)
      return { ...found, data: found.data.map((run) => without(WorkflowRunSchema.parse(run), params.resolveData)) }
    }) as Storage['runs']['list'],
  }
}

/** The reads of steps. */
export function stepsOf(client: Client, keys: Keys): Storage['steps'] {
  return {
    get: (async (run: string, step: string, params?: { resolveData?: ResolveData }) => {
      const found = await get(client, keys.steps(checkId('runId', run)) + checkId('stepId', step))
      if (found === undefined) throw new Error(`step ${step} of run ${run} does not exist`)
      return without(StepSchema.parse(found), params?.resolveData)
    }) as Storage['steps']['get'],
    list: (async (params: { runId: string; pagination?: PaginationOptions; resolveData?: ResolveData }) => {
      const found = await page<Step>(client, keys.steps(checkId('runId', params.runId)), params.pagination, 'desc')
      return { ...found, data: found.data.map((step) => without(StepSchema.parse(step), params.resolveData)) }
    }) as Storage['steps']['list'],
  }
}

/** The reads of hooks. */
export function hooksOf(client: Client, keys: Keys): Storage['hooks'] {
  const find = async (pointer: string, named: string): Promise<Hook> => {
    const at = await get<{ run: string; hook: string }>(client, pointer)
    const found = at && await get(client, keys.hooks(at.run) + at.hook)
    if (!found) throw new HookNotFoundError(named)
    return HookSchema.parse(found)
  }
  return {
    get: async (hook, params) => hookWithout(await find(keys.hookOwner(checkId('hookId', hook)), hook), params?.resolveData),
    getByToken: async (token, params) => hookWithout(await find(keys.token(token), token), params?.resolveData),
    list: async (params) => {
      const found = await page<Hook>(client, keys.hooks(params.runId), params.pagination, 'asc')
      return { ...found, data: found.data.map((hook) => hookWithout(HookSchema.parse(hook), params.resolveData)) }
    },
  }
}

/** The reads of events. */
export function eventsOf(client: Client, keys: Keys): Omit<Storage['events'], 'create'> {
  const list = async ({ runId, pagination, resolveData }: ListEventsParams) => {
    const found = await entries(client, keys.events(checkId('runId', runId)), pagination, eventOf)
    return { ...found, data: found.data.map((event) => stripEventDataRefs(event, resolveData ?? 'all')) }
  }
  return {
    list,
    get: async (run, event, params) => {
      const [found] = await read(client, [{ read: 'get_entry', thread: keys.events(checkId('runId', run)), entry: checkId('eventId', event) }])
      if (!found) throw new Error(`event ${event} of run ${run} does not exist`)
      return stripEventDataRefs(eventOf(found as Entry), params?.resolveData ?? 'all')
    },
    // The events of a correlation id are few, and those of one run in most cases.
    listByCorrelationId: async ({ correlationId, pagination, resolveData }) => {
      const runs = await page<{ run: string }>(client, keys.correlated(checkId('correlationId', correlationId)), { limit: 1000 }, 'asc')
      const all: Event[] = []
      for (const { run } of runs.data) {
        for (let cursor: string | undefined; ;) {
          const found = await list({ runId: run, pagination: { limit: 1000, ...(cursor === undefined ? {} : { cursor }) }, ...(resolveData ? { resolveData } : {}) })
          all.push(...found.data.filter((event) => event.correlationId === correlationId))
          if (!found.hasMore || found.cursor === null) break
          cursor = found.cursor
        }
      }
      if (pagination?.sortOrder === 'desc') all.reverse()
      const from = pagination?.cursor === undefined ? 0 : all.findIndex((event) => event.eventId === pagination.cursor) + 1
      const data = all.slice(from, from + (pagination?.limit ?? 100))
      return { data, cursor: data.at(-1)?.eventId ?? pagination?.cursor ?? null, hasMore: from + data.length < all.length }
    },
  }
}

