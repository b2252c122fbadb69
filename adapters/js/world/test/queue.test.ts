// The queue and the ownership of runs: kills of processes and of the leader, retries, fences.
import { WorkflowWorldError } from '@workflow/errors'
import { SPEC_VERSION_CURRENT, ValidQueueName, type CreateEventRequest } from '@workflow/world'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { createWorld } from '../src/index.js'
import { Keys } from '../src/keys.js'
import { Owner } from '../src/owner.js'
import { client, killLeader, prefix, serve, server, sleep, world } from './kit.js'

const queue = ValidQueueName.parse('__wkf_workflow_test')

/** Returns a run that exists. */
async function run(shared: string): Promise<string> {
  const created = await world({ prefix: shared }).events.create(null, { eventType: 'run_created', specVersion: SPEC_VERSION_CURRENT, eventData: { deploymentId: 'd', workflowName: 'wf', input: new Uint8Array([1]) } })
  return created.run!.runId
}

it('delivers a message again until its handler succeeds, under one id', async () => {
  const seen: [number, string][] = []
  const baseUrl = await serve(async (_message, { attempt, messageId }) => {
    seen.push([attempt, messageId])
    if (attempt < 3) throw new Error('not yet')
    if (attempt === 3) return { timeoutSeconds: 0.1 }
  })
  const on = world({ baseUrl })
  await on.start!()
  const { messageId } = await on.queue(queue, { runId: 'wrun_1' })
  await vi.waitFor(() => expect(seen).toEqual([1, 2, 3, 4].map((attempt) => [attempt, messageId])), 20_000)
})

it('delivers a message once to a handler that takes longer than a fetch waits', async () => {
  const before = getGlobalDispatcher()
  setGlobalDispatcher(new Agent({ headersTimeout: 1000 })) // 300 s by default
  onTestFinished(() => setGlobalDispatcher(before))
  let begun = 0
  let ended = 0
  const baseUrl = await serve(async () => {
    begun++
    await sleep(4000)
    ended++
  })
  const on = world({ baseUrl })
  await on.start!()
  await on.queue(queue, { runId: 'wrun_1' })
  await vi.waitFor(() => expect(ended).toBe(1), 20_000)
  await on.close!()
  expect(begun).toBe(1)
})

it('delivers one of the messages with an idempotency key, and a new one after it', async () => {
  const seen: string[] = []
  let finish: (() => void) | undefined
  const baseUrl = await serve(async (_message, { messageId }) => {
    seen.push(messageId)
    await new Promise<void>((resolve) => { finish = resolve })
  })
  const on = world({ baseUrl })
  await on.start!()
  const send = () => on.queue(queue, { runId: 'wrun_1' }, { idempotencyKey: 'k' })
  const ids = await Promise.all([send(), send(), send()])
  await vi.waitFor(() => expect(seen).toHaveLength(1), 10_000)
  expect(new Set([...ids, await send()].map((each) => each.messageId))).toEqual(new Set(seen))
  finish!()
  await vi.waitFor(async () => {
    await send()
    expect(seen).toHaveLength(2)
  }, 10_000)
  finish!()
})

it('delivers a delayed message when it is due', async () => {
  let at = 0
  const baseUrl = await serve(async () => { at = Date.now() })
  const on = world({ baseUrl })
  await on.start!()
  const sent = Date.now()
  await on.queue(queue, { runId: 'wrun_1' }, { delaySeconds: 1 })
  await vi.waitFor(() => expect(at).not.toBe(0), 10_000)
  expect(at - sent).toBeGreaterThanOrEqual(1000)
})

it('delivers what another process stored, and lets one process at a time run a run', async () => {
  const shared = { prefix: prefix(), ownerTtlMs: 3000 }
  let running = 0
  let most = 0
  const done: string[] = []
  const handler = (name: string) => serve(async () => {
    most = Math.max(most, ++running)
    await sleep(150)
    running--
    done.push(name)
  })
  const deliverers = [world({ ...shared, baseUrl: await handler('a') }), world({ ...shared, baseUrl: await handler('b') })]
  for (const each of deliverers) await each.start!()
  const sender = world(shared)
  for (let n = 0; n < 3; n++) {
    await sender.queue(queue, { runId: 'wrun_1' })
    await vi.waitFor(() => expect(done).toHaveLength(n + 1), 20_000)
  }
  expect(most).toBe(1)
  expect(new Set(done).size).toBe(1) // The owner keeps the run for a while.
})

it('delivers what others store after its feed broke off', async () => {
  const shared = prefix()
  const mine = client()
  const seen: string[] = []
  const reported: string[] = []
  const baseUrl = await serve(async (_message, { messageId }) => { seen.push(messageId) })
  const on = world({ client: mine, prefix: shared, baseUrl, report: (error) => reported.push(String(error)) })
  await on.start!()
  const sender = world({ prefix: shared })
  // No node answers in time, as while a cluster has no leader.
  vi.spyOn(mine, 'read').mockRejectedValueOnce(new Error('no node answers'))
  const first = await sender.queue(queue, { runId: 'wrun_1' })
  await vi.waitFor(() => expect(seen).toEqual([first.messageId]), 10_000)
  const second = await sender.queue(queue, { runId: 'wrun_1' })
  await vi.waitFor(() => expect(seen).toEqual([first.messageId, second.messageId]), 10_000)
  expect(reported).toEqual(['Error: no node answers'])
})

it('starts after a start that failed', async () => {
  const mine = client()
  const seen: string[] = []
  const on = world({ client: mine, baseUrl: await serve(async (_message, { messageId }) => { seen.push(messageId) }) })
  vi.spyOn(mine, 'read').mockRejectedValueOnce(new Error('no node answers'))
  await expect(on.start!()).rejects.toThrow('no node answers')
  await on.start!()
  const { messageId } = await on.queue(queue, { runId: 'wrun_1' })
  await vi.waitFor(() => expect(seen).toEqual([messageId]), 10_000)
})

it('keeps a run for its user when an earlier use of a lost claim ends', async () => {
  const keys = new Keys(prefix())
  const on = client()
  const owner = new Owner(on, keys, 'h', 3000)
  onTestFinished(() => owner.close())
  const first = (await owner.take('r'))!
  await on.claims.release(keys.owner('r'), 'h', first.fence.epoch)
  await vi.waitFor(() => expect(first.signal.aborted).toBe(true), 10_000)
  const second = (await owner.take('r'))!
  owner.release('r', first)
  await sleep(1500) // longer than a run without users is kept
  expect(await on.claims.get(keys.owner('r'))).toMatchObject({ holder: 'h', epoch: second.fence.epoch })
})

it('refuses the writes of a runner that another has followed', async () => {
  const shared = prefix()
  const id = await run(shared)
  let late: Promise<unknown> | undefined
  const on = world({ prefix: shared, ownerTtlMs: 1000 })
  const request = (epoch: number) => new Request('http://localhost', {
    method: 'POST', body: JSON.stringify({ runId: id }),
    headers: { 'x-vqs-queue-name': queue, 'x-vqs-message-id': 'msg_1', 'x-vqs-message-attempt': '1', 'x-dormouse-run': id, 'x-dormouse-claim': encodeURIComponent(`${shared}owner/${id}`), 'x-dormouse-epoch': String(epoch) },
  })
  const handle = on.createQueueHandler('__wkf_workflow_', async () => {
    late = on.events.create(id, { eventType: 'run_started', specVersion: SPEC_VERSION_CURRENT } as CreateEventRequest)
    await late
  })
  const first = await client().claims.take(`${shared}owner/${id}`, 'first', 30_000)
  await client().claims.release(`${shared}owner/${id}`, 'first', first.epoch!)
  const second = await client().claims.take(`${shared}owner/${id}`, 'second', 30_000)
  expect((await handle(request(first.epoch!))).status).toBe(500)
  await expect(late).rejects.toThrow(WorkflowWorldError)
  expect((await on.runs.get(id)).status).toBe('pending')
  expect((await handle(request(second.epoch!))).status).toBe(200)
  expect((await on.runs.get(id)).status).toBe('running')
})

it('refuses a request that is not a delivery', async () => {
  const handle = createWorld({ client: client() }).createQueueHandler('__wkf_workflow_', async () => undefined)
  expect((await handle(new Request('http://localhost', { method: 'POST', body: '{}' }))).status).toBe(400)
})

/** Invokes a workflow of the suite on a server. */
async function invoke(url: string, file: string, workflow: string): Promise<string> {
  const answer = await fetch(`${url}/invoke`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ file, workflow, args: [] }) })
  return ((await answer.json()) as { runId: string }).runId
}

/** Waits until a run is completed, and returns how often each of its steps completed. */
async function completed(shared: string, id: string): Promise<number[]> {
  const on = world({ prefix: shared })
  await vi.waitFor(async () => expect((await on.runs.get(id)).status).toBe('completed'), { timeout: 50_000, interval: 100 })
  const { data } = await on.events.list({ runId: id })
  const steps = data.filter((event) => event.eventType === 'step_completed').map((event) => event.correlationId!)
  return [...new Set(steps)].map((step) => steps.filter((each) => each === step).length)
}

it('goes on in another process after a SIGKILL', async () => {
  const shared = prefix()
  const first = await server(shared)
  const id = await invoke(first.url, 'workflows/inline-execution.ts', 'sleepWorkflow')
  const on = world({ prefix: shared })
  // The run has begun, and sleeps.
  await vi.waitFor(async () => expect((await on.events.list({ runId: id })).data.map((event) => event.eventType)).toContain('wait_created'), { timeout: 20_000, interval: 20 })
  first.process.kill('SIGKILL')
  expect((await on.runs.get(id)).status).toBe('running')
  await server(shared)
  expect(await completed(shared, id)).toEqual([1])
})

it('goes on while the leader is killed', async () => {
  const shared = prefix()
  const { url } = await server(shared)
  const id = await invoke(url, 'workflows/retriable-and-fatal.ts', 'retryableAndFatalErrorWorkflow')
  await killLeader()
  expect(await completed(shared, id)).toEqual([1])
})
