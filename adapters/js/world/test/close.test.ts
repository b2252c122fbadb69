// The end of a world: its handlers finish, and other worlds get its runs.
import { RefusedError, type Client } from '@dormouse/client'
import { ValidQueueName, type World } from '@workflow/world'
import type { WorldOptions } from '../src/index.js'
import { Keys } from '../src/keys.js'
import { Owner } from '../src/owner.js'
import { ownedMs } from '../src/waiting.js'
import { client, prefix, serve, sleep, world } from './kit.js'

const queue = ValidQueueName.parse('__wkf_workflow_test')

/** How long a claim takes to lapse, in ms: longer than a test. */
const ownerTtlMs = 120_000

/** Returns a world that delivers to a handler that runs until finish is called. */
async function held(options: WorldOptions, seen: string[]): Promise<{ on: World; finish: () => void }> {
  let finish = (): void => undefined
  const wait = new Promise<void>((resolve) => { finish = resolve })
  onTestFinished(() => finish())
  const baseUrl = await serve(async () => {
    seen.push('first')
    await wait
  })
  const on = world({ ...options, ownerTtlMs, baseUrl })
  await on.start!()
  await on.queue(queue, { runId: 'wrun_1' })
  await vi.waitFor(() => expect(seen).toEqual(['first']), 10_000)
  return { on, finish }
}

/** Returns a world that has begun to deliver to a handler of its own. */
async function second(shared: string, seen: string[], mine = client()): Promise<World> {
  const on = world({ client: mine, prefix: shared, ownerTtlMs, baseUrl: await serve(async () => { seen.push('second') }) })
  await on.start!()
  return on
}

/** Returns a function that returns how many calls a client has made since. */
function callsOf(on: Client): () => number {
  const spies = [vi.spyOn(on.transport, 'call'), vi.spyOn(on.transport, 'bytes'), vi.spyOn(on.transport, 'open')]
  return () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
}

it('waits for the handler that runs, whose message is then done', async () => {
  const shared = prefix()
  const seen: string[] = []
  const { on, finish } = await held({ prefix: shared }, seen)
  await second(shared, seen)
  let closed = false
  const closing = on.close!().then(() => { closed = true })
  await sleep(1000)
  expect(closed).toBe(false)
  finish()
  await closing
  expect((await client().values.list({ prefix: new Keys(shared).messages() }) as { items: unknown[] }).items).toEqual([])
  await sleep(1000)
  expect(seen).toEqual(['first'])
})

it('lets another world deliver the message of a handler that does not end', async () => {
  const shared = prefix()
  const seen: string[] = []
  const mine = client()
  const { on } = await held({ prefix: shared, client: mine, closeTimeoutMs: 300 }, seen)
  await on.close!()
  const calls = callsOf(mine)
  await second(shared, seen)
  await vi.waitFor(() => expect(seen).toEqual(['first', 'second']), 10_000)
  await sleep(1500) // longer than a message waits for its run
  expect(calls()).toBe(0)
})

it('reads the claim of a run that another world owns, and does not ask for it', async () => {
  const shared = prefix()
  const seen: string[] = []
  const { finish } = await held({ prefix: shared }, seen)
  const mine = client()
  const asked = vi.spyOn(mine.claims, 'hold')
  const read = vi.spyOn(mine, 'read')
  const looked = () => read.mock.calls.filter(([reads]) => reads[0]!.read === 'get_claim').length
  await second(shared, seen, mine)
  await vi.waitFor(() => expect(asked.mock.calls.length + looked()).toBeGreaterThan(2), 20_000)
  expect(asked).not.toHaveBeenCalled()
  finish()
  await vi.waitFor(async () => expect((await client().values.list({ prefix: new Keys(shared).messages() }) as { items: unknown[] }).items).toEqual([]), 10_000)
  expect(seen).toEqual(['first'])
})

it('delivers a message as soon as another world has left its run, before it would look again', async () => {
  const shared = prefix()
  const seen: string[] = []
  const { on } = await held({ prefix: shared, closeTimeoutMs: 0 }, seen)
  const mine = client()
  const real = setTimeout
  const waits = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((call: () => void, ms?: number, ...rest: []) => real(call, ms === ownedMs ? 2 ** 31 - 1 : ms, ...rest)) as typeof setTimeout)
  onTestFinished(() => waits.mockRestore())
  await second(shared, seen, mine)
  await vi.waitFor(() => expect(waits.mock.calls.map(([, ms]) => ms)).toContain(ownedMs), 10_000)
  await on.close!()
  await vi.waitFor(() => expect(seen).toEqual(['first', 'second']), 10_000)
})

it('does not try again when it closes while another process has the run', async () => {
  const shared = prefix()
  const mine = client()
  const on = world({ prefix: shared, client: mine, baseUrl: 'http://localhost:1' })
  let closing: Promise<void> | undefined
  const hold = vi.spyOn(mine.claims, 'hold').mockImplementation(async () => {
    closing ??= on.close!()
    throw new RefusedError({ type: 'urn:dormouse:problem:already_claimed', title: 'claimed', status: 409, detail: 'another process has the run', code: 'already_claimed' })
  })
  await on.start!()
  await on.queue(queue, { runId: 'wrun_1' })
  await vi.waitFor(() => expect(closing).toBeDefined(), 10_000)
  await closing
  const calls = callsOf(mine)
  await sleep(1500) // longer than a message waits for its run
  expect([hold.mock.calls.length, calls()]).toEqual([1, 0])
})

it('takes no run after it has released all', async () => {
  const keys = new Keys(prefix())
  const on = client()
  const owner = new Owner(on, keys, 'h', ownerTtlMs)
  await owner.take('r')
  await owner.close()
  await expect(owner.take('r')).rejects.toThrow('the world is closed')
  await expect(on.claims.get(keys.owner('r'))).rejects.toThrow('is not held')
})
