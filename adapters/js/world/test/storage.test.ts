// The storage and the streams, beyond what the suite of the SDK looks at.
import type { Client, Read } from '@dormouse/client'
import { EntityConflictError, HookNotFoundError, RunExpiredError, WorkflowRunNotFoundError, WorkflowWorldError } from '@workflow/errors'
import { SPEC_VERSION_CURRENT, type CreateEventRequest, type World } from '@workflow/world'
import { ulid } from 'ulid'
import { decode, encode } from '../src/codec.js'
import { nextEvent } from '../src/ids.js'
import { entries, scan } from '../src/store.js'
import { client, follower, prefix, world } from './kit.js'

const specVersion = SPEC_VERSION_CURRENT
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

async function started(on: World, name = 'wf'): Promise<string> {
  const { run } = await on.events.create(null, { eventType: 'run_created', specVersion, eventData: { deploymentId: 'd', workflowName: name, input: bytes('in') } })
  await on.events.create(run!.runId, { eventType: 'run_started', specVersion } as CreateEventRequest)
  return run!.runId
}

const step = (id: string): CreateEventRequest => ({ eventType: 'step_started', correlationId: id, specVersion, eventData: { stepName: 's', workflowName: 'wf', input: bytes(id) } }) as CreateEventRequest
const stepDone = (id: string): CreateEventRequest => ({ eventType: 'step_completed', correlationId: id, specVersion, eventData: { result: bytes('out') } }) as CreateEventRequest

it('encodes bytes, dates, and objects that look like its marks', () => {
  const value = { a: [bytes('é\0'), new Date(5)], $dormouse: 'bytes', inner: { $dormouse: 'date', value: [null, 1.5, 'x'] } }
  expect(decode(encode(value))).toEqual(value)
})

it('gives events ids that grow with the log, whatever the clock says', () => {
  const first = nextEvent(undefined, 1000)
  const later = nextEvent(first.id, 500)
  expect([later.id > first.id, later.at.getTime(), nextEvent(later.id, 2000).at.getTime()]).toEqual([true, 1000, 2000])
})

it('creates a step once, and completes it once, of many that try at a time', async () => {
  const shared = { prefix: prefix() }
  const worlds = [world(shared), world({ ...shared, client: follower() })]
  const run = await started(worlds[0]!)
  const count = async (event: CreateEventRequest) => (await Promise.allSettled(Array.from({ length: 12 }, (_, at) => worlds[at % 2]!.events.create(run, event)))).map((each) => (each.status === 'fulfilled' ? 'done' : EntityConflictError.is(each.reason) ? 'conflict' : String(each.reason))).sort()
  const once = [...Array<string>(11).fill('conflict'), 'done']
  expect(await count(step('step_1'))).toEqual(once)
  expect(await count(stepDone('step_1'))).toEqual(once)
  const { data } = await worlds[1]!.events.list({ runId: run })
  expect(data.map((event) => event.eventType)).toEqual(['run_created', 'run_started', 'step_created', 'step_started', 'step_completed'])
  expect(data.map((event) => event.eventId)).toEqual(data.map((event) => event.eventId).sort())
  expect(await worlds[0]!.steps.get(run, 'step_1')).toMatchObject({ status: 'completed', attempt: 1, input: bytes('step_1'), output: bytes('out') })
})

it('pages events, steps and runs in both orders', async () => {
  const on = world()
  const runs = [await started(on, 'a'), await started(on, 'b'), await started(on, 'a')]
  for (let n = 0; n < 5; n++) await on.events.create(runs[0]!, step(`step_${n}`))
  for (const sortOrder of ['asc', 'desc'] as const) {
    const all = async (list: (pagination: object) => Promise<{ data: { eventId?: string; stepId?: string; runId: string }[]; cursor: string | null; hasMore: boolean }>) => {
      const found: string[] = []
      for (let cursor: string | undefined; ;) {
        const page = await list({ sortOrder, limit: 2, ...(cursor === undefined ? {} : { cursor }) })
        expect(page.data.length).toBeLessThanOrEqual(2)
        found.push(...page.data.map((each) => each.eventId ?? each.stepId ?? each.runId))
        if (!page.hasMore) return sortOrder === 'asc' ? found : found.reverse()
        cursor = page.cursor!
      }
    }
    expect(await all((pagination) => on.events.list({ runId: runs[0]!, pagination }))).toHaveLength(12)
    expect(await all((pagination) => on.steps.list({ runId: runs[0]!, pagination }))).toEqual([0, 1, 2, 3, 4].map((n) => `step_${n}`))
    expect(await all((pagination) => on.runs.list({ pagination }))).toEqual([...runs].sort())
    expect(await all((pagination) => on.runs.list({ pagination, workflowName: 'a' }))).toEqual([runs[0], runs[2]].sort())
  }
  expect((await on.events.listByCorrelationId({ correlationId: 'step_3' })).data.map((event) => event.eventType)).toEqual(['step_created', 'step_started'])
  const since = await on.events.list({ runId: runs[0]!, pagination: { limit: 10 } })
  const result = await on.events.create(runs[0]!, stepDone('step_0'), { sinceCursor: since.cursor! })
  expect(result.events?.map((event) => event.eventType)).toEqual(['step_created', 'step_started', 'step_completed'])
  expect((await on.runs.get(runs[0]!, { resolveData: 'none' })).input).toBeUndefined()
  await expect(on.events.list({ runId: runs[0]!, pagination: { cursor: 'x' } })).rejects.toThrow('cursor of the page before')
})

it('gives a token to one hook at a time, and frees it when its run ends', async () => {
  const on = world()
  const [first, second] = [await started(on), await started(on)]
  const hook = (id: string): CreateEventRequest => ({ eventType: 'hook_created', correlationId: id, specVersion, eventData: { token: 'tok', metadata: bytes('m') } })
  expect((await on.events.create(first, hook('hook_1'))).hook).toMatchObject({ token: 'tok', runId: first })
  expect((await on.events.create(second, hook('hook_2'))).event).toMatchObject({ eventType: 'hook_conflict', eventData: { conflictingRunId: first } })
  expect(await on.hooks.getByToken('tok')).toEqual(await on.hooks.get('hook_1'))
  expect((await on.hooks.list({ runId: second })).data).toEqual([])
  await on.events.create(first, { eventType: 'run_completed', specVersion, eventData: { output: bytes('o') } } as CreateEventRequest)
  await expect(on.hooks.getByToken('tok')).rejects.toThrow(HookNotFoundError)
  await expect(on.events.create(first, { eventType: 'hook_received', correlationId: 'hook_1', specVersion, eventData: { payload: bytes('p') } } as CreateEventRequest)).rejects.toThrow(HookNotFoundError)
  expect((await on.events.create(second, hook('hook_3'))).hook).toMatchObject({ token: 'tok', runId: second })
  await on.events.create(second, { eventType: 'hook_disposed', correlationId: 'hook_3', specVersion } as CreateEventRequest)
  await expect(on.hooks.get('hook_3')).rejects.toThrow(HookNotFoundError)
})

it('refuses what a run that has ended does not take', async () => {
  const on = world()
  const run = await started(on)
  await on.events.create(run, { eventType: 'wait_created', correlationId: 'wait_1', specVersion, eventData: { resumeAt: new Date() } } as CreateEventRequest)
  const waited = { eventType: 'wait_completed', correlationId: 'wait_1', specVersion } as CreateEventRequest
  expect((await on.events.create(run, waited)).wait?.status).toBe('completed')
  await expect(on.events.create(run, waited)).rejects.toThrow(EntityConflictError)
  await on.events.create(run, { eventType: 'run_cancelled', specVersion } as CreateEventRequest)
  await expect(on.events.create(run, step('step_9'))).rejects.toThrow(EntityConflictError)
  await expect(on.events.create(run, { eventType: 'run_started', specVersion } as CreateEventRequest)).rejects.toThrow(RunExpiredError)
  expect((await on.events.create(run, { eventType: 'run_cancelled', specVersion } as CreateEventRequest)).run?.status).toBe('cancelled')
  await expect(on.runs.get(`wrun_${ulid()}`)).rejects.toThrow(WorkflowRunNotFoundError)
  await expect(on.events.create(`wrun_${ulid()}`, stepDone('step_0'))).rejects.toThrow(WorkflowWorldError)
  await expect(on.runs.get('a/b')).rejects.toThrow('not valid')
})

it('keeps the chunks of a stream in order, for readers before and after', async () => {
  const shared = { prefix: prefix() }
  const [writer, reader] = [world(shared), world({ ...shared, client: follower() })]
  const run = await started(writer)
  const early = await reader.streams.get(run, 'out')
  await writer.streams.write(run, 'out', 'a')
  await writer.streams.writeMulti!(run, 'out', [bytes('b'), '', bytes('d')])
  expect(await reader.streams.getInfo(run, 'out')).toEqual({ tailIndex: 3, done: false })
  await writer.streams.close(run, 'out')
  expect(await reader.streams.getInfo(run, 'out')).toEqual({ tailIndex: 3, done: true })
  expect(await new Response(early).text()).toBe('abd')
  expect(await new Response(await reader.streams.get(run, 'out', 1)).text()).toBe('bd')
  expect(await new Response(await reader.streams.get(run, 'out', -1)).text()).toBe('d')
  const page = await reader.streams.getChunks(run, 'out', { limit: 3 })
  expect([page.data.map((each) => each.index), page.hasMore, page.done]).toEqual([[0, 1, 2], true, true])
  const rest = await reader.streams.getChunks(run, 'out', { limit: 3, cursor: page.cursor! })
  expect([rest.data, rest.hasMore, rest.cursor]).toEqual([[{ index: 3, data: bytes('d') }], false, null])
  expect(await reader.streams.list(run)).toEqual(['out'])
  expect(await client().threads.list({ prefix: shared.prefix })).toMatchObject({ items: [{}, {}] })
})

// getInfo and getChunks answer as world-local does. Its get looks at the last entry only.
it.each([['twice', ['c0', undefined, undefined]], ['twice, with a chunk between', ['c0', undefined, 'late', undefined]]])('ends a stream at its first end: closed %s', async (_name, written) => {
  const on = world()
  const run = await started(on)
  for (const chunk of written) await (chunk === undefined ? on.streams.close(run, 'out') : on.streams.write(run, 'out', chunk))
  expect(await on.streams.getInfo(run, 'out')).toEqual({ tailIndex: 0, done: true })
  const first = { index: 0, data: bytes('c0') }
  for (const limit of [1, 2, 100]) expect(await on.streams.getChunks(run, 'out', { limit })).toEqual({ data: [first], cursor: null, hasMore: false, done: true })
  for (const [from, text] of [[undefined, 'c0'], [0, 'c0'], [-1, 'c0'], [-5, 'c0'], [1, ''], [2, ''], [9, '']] as const) {
    expect(await new Response(await on.streams.get(run, 'out', from)).text()).toBe(text)
  }
})

it('ends a reader from an index that a stream does not reach', async () => {
  const on = world()
  const run = await started(on)
  await on.streams.write(run, 'out', 'c0')
  const reader = await on.streams.get(run, 'out', 5)
  await on.streams.close(run, 'out')
  expect(await new Response(reader).text()).toBe('')
})

it('leaves a token to the run that took it from one that is over', async () => {
  const shared = { prefix: prefix() }
  const mine = client()
  const [on, other] = [world({ ...shared, client: mine }), world(shared)]
  const [first, second] = [await started(on), await started(other)]
  const hook = (id: string, token: string): CreateEventRequest => ({ eventType: 'hook_created', correlationId: id, specVersion, eventData: { token } })
  // More hooks than the commit that ends the run removes.
  for (let n = 0; n < 202; n++) await on.events.create(first, hook(`hook_${String(n).padStart(3, '0')}`, `token ${n}`))
  const commit = mine.commit.bind(mine)
  vi.spyOn(mine, 'commit').mockImplementationOnce(async (ops, options) => {
    const done = await commit(ops, options)
    await other.events.create(second, hook('theirs_1', 'token 200'))
    return done
  }).mockImplementationOnce(async (ops, options) => {
    await other.events.create(second, hook('theirs_2', 'token 201'))
    return commit(ops, options)
  })
  await on.events.create(first, { eventType: 'run_cancelled', specVersion } as CreateEventRequest)
  for (const [token, hookId] of [['token 200', 'theirs_1'], ['token 201', 'theirs_2']] as const) {
    expect(await other.hooks.getByToken(token)).toMatchObject({ runId: second, hookId })
  }
  expect((await on.hooks.list({ runId: first })).data).toEqual([])
})

it('frees the tokens of a run that ends with more hooks than one commit takes', async () => {
  const on = world()
  const [first, second] = [await started(on), await started(on)]
  const hook = (n: number): CreateEventRequest => ({ eventType: 'hook_created', correlationId: `hook_${n}`, specVersion, eventData: { token: `token ${n}` } })
  for (let n = 0; n < 401; n++) await on.events.create(first, hook(n))
  await on.events.create(first, { eventType: 'run_failed', specVersion, eventData: { error: bytes('e') } } as CreateEventRequest)
  expect((await on.hooks.list({ runId: first })).data).toEqual([])
  for (const n of [0, 400]) expect((await on.events.create(second, hook(n))).event?.eventType).toBe('hook_created')
})

const hookCreated = (id: string, token: string): CreateEventRequest => ({ eventType: 'hook_created', correlationId: id, specVersion, eventData: { token } })

it('leaves a token to the run that took it before its first run was created', async () => {
  const on = world()
  const [early, second] = [`wrun_${ulid()}`, await started(on)]
  for (const n of [1, 2]) await on.events.create(early, hookCreated(`early_${n}`, `token ${n}`))
  for (const n of [1, 2]) expect((await on.events.create(second, hookCreated(`theirs_${n}`, `token ${n}`))).hook).toMatchObject({ runId: second })
  await on.events.create(early, { eventType: 'run_started', specVersion, eventData: { deploymentId: 'd', workflowName: 'wf', input: bytes('in') } } as CreateEventRequest)
  await on.events.create(early, { eventType: 'hook_disposed', correlationId: 'early_1', specVersion } as CreateEventRequest)
  await on.events.create(early, { eventType: 'run_completed', specVersion, eventData: { output: bytes('o') } } as CreateEventRequest)
  for (const n of [1, 2]) expect(await on.hooks.getByToken(`token ${n}`)).toMatchObject({ runId: second, hookId: `theirs_${n}` })
  expect((await on.hooks.list({ runId: early })).data).toEqual([])
})

it('leaves a token to the run that took it after it was deleted', async () => {
  const shared = { prefix: prefix() }
  const mine = client()
  const [on, other] = [world({ ...shared, client: mine }), world(shared)]
  const [early, second, third] = [`wrun_${ulid()}`, await started(other), await started(other)]
  // A run that is not created yet holds no token, so that the second run may take it.
  await other.events.create(early, hookCreated('early', 'token'))
  const commit = mine.commit.bind(mine)
  vi.spyOn(mine, 'commit').mockImplementationOnce(async (ops, options) => {
    await other.events.create(early, { eventType: 'hook_disposed', correlationId: 'early', specVersion } as CreateEventRequest)
    await other.events.create(third, hookCreated('theirs', 'token')) // at revision 1 again, in the next incarnation
    return commit(ops, options)
  })
  expect((await on.events.create(second, hookCreated('ours', 'token'))).event).toMatchObject({ eventType: 'hook_conflict', eventData: { conflictingRunId: third } })
  expect(await other.hooks.getByToken('token')).toMatchObject({ runId: third, hookId: 'theirs' })
})

it('ends what a run left whose process died', async () => {
  const shared = { prefix: prefix() }
  const mine = client()
  const [on, other] = [world({ ...shared, client: mine }), world(shared)]
  const [first, second] = [await started(on), await started(other)]
  for (let n = 0; n < 202; n++) await on.events.create(first, hookCreated(`hook_${String(n).padStart(3, '0')}`, `token ${n}`))
  const commit = mine.commit.bind(mine)
  vi.spyOn(mine, 'commit').mockImplementationOnce(commit).mockRejectedValueOnce(new Error('the process died'))
  const completed = { eventType: 'run_completed', specVersion, eventData: { output: bytes('o') } } as CreateEventRequest
  await expect(on.events.create(first, completed)).rejects.toThrow('the process died')
  await other.events.create(second, hookCreated('theirs', 'token 200'))
  await expect(other.events.create(first, completed)).rejects.toThrow(EntityConflictError)
  expect((await other.hooks.list({ runId: first })).data).toEqual([])
  expect(await other.hooks.getByToken('token 200')).toMatchObject({ runId: second, hookId: 'theirs' })
  await expect(other.hooks.getByToken('token 201')).rejects.toThrow(HookNotFoundError)
})

it('ends all waits and hooks of a run although a page is short', async () => {
  const real = client()
  const read = real.read.bind(real)
  // A node bounds the size of a page.
  real.read = ((reads: Read[], ...rest: never[]) => read(reads.map((each) => (each.read === 'list_values' ? { ...each, limit: 3 } : each)), ...rest)) as typeof real.read
  const on = world({ client: real })
  const [first, second] = [await started(on), await started(on)]
  for (let n = 0; n < 7; n++) await on.events.create(first, hookCreated(`hook_${n}`, `token ${n}`))
  await on.events.create(first, { eventType: 'run_failed', specVersion, eventData: { error: bytes('e') } } as CreateEventRequest)
  expect((await on.hooks.list({ runId: first })).data).toEqual([])
  for (let n = 0; n < 7; n++) expect((await on.events.create(second, hookCreated(`hook_${n}`, `token ${n}`))).event?.eventType).toBe('hook_created')
})

/** A client whose first page of each list or load is empty, and names the place where the list begins as the next one. */
function emptyFirst(next: string | number): Client {
  const real = follower()
  const read = real.read.bind(real)
  real.read = (async (reads: Read[], ...rest: never[]) => {
    const first = reads[0] as { read: string; after?: string; from?: number; to?: number }
    const begins = first.after === undefined && first.from === undefined && first.to === undefined
    if (begins && (first.read === 'list_values' || first.read === 'load_entries')) return { index: 0, answers: [{ found: { items: [], next } }] }
    return await read(reads, ...rest)
  }) as typeof real.read
  return real
}

it('reads on after an empty page that names a next one', async () => {
  const shared = prefix()
  const ours = client()
  await ours.commit([
    { op: 'put_value', key: `${shared}a`, bytes: Buffer.from('{"n":1}').toString('base64'), content_type: 'application/json' },
    { op: 'append_thread', thread: `${shared}t`, entries: [1, 2, 3].map((n) => ({ kind: 'n', payload: { n } })) },
  ])
  const keys = []
  for await (const { key } of scan(emptyFirst(shared), shared)) keys.push(key)
  expect(keys).toEqual([`${shared}a`])
  const seqs = async (order: 'asc' | 'desc', next: number) => (await entries(emptyFirst(next), `${shared}t`, { limit: 2, sortOrder: order }, (entry) => entry.seq)).data
  expect(await seqs('asc', 0)).toEqual([0, 1])
  expect(await seqs('desc', 2)).toEqual([2, 1])
})
