// Retries of the queue: the waits between attempts, and when a message is given up.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ValidQueueName } from '@workflow/world'
import { Keys } from '../src/keys.js'
import { afterNoAnswer, failuresMax } from '../src/outcome.js'
import { messageKey, type Message } from '../src/queue.js'
import { get, put } from '../src/store.js'
import { client, prefix, serve, sleep, world, type Handler } from './kit.js'

/** Returns a message as an older build stored it, without counts of failures. */
const message = (change: Partial<Message> = {}): Message => ({
  id: 'msg_1', queue: ValidQueueName.parse('__wkf_workflow_test'), run: 'wrun_1', payload: '{"runId":"wrun_1"}', deliveries: 0, due: 0, ...change,
})

/** Returns the URL of a server that has closed. */
async function unreachable(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://localhost:${port}`
}

/** Stores a message and delivers it to a handler. It returns what is stored of the message, alive or given up. */
async function delivered(stored: Message, handler: Handler): Promise<() => Promise<{ alive?: Message; dead?: Message }>> {
  const keys = new Keys(prefix())
  const on = client()
  await on.commit([put(messageKey(keys, stored), stored)])
  await world({ prefix: keys.prefix, baseUrl: await serve(handler) }).start!()
  return async () => {
    const [alive, dead] = await Promise.all([messageKey(keys, stored), keys.dead(stored.id)].map((key) => get<Message>(on, key)))
    return { ...(alive ? { alive } : {}), ...(dead ? { dead } : {}) }
  }
}

it('doubles the wait while no handler answers, and does not give the message up', () => {
  let stored = message()
  for (let n = 1; n <= 2 * failuresMax; n++) {
    stored = afterNoAnswer(stored, 0)
    const most = Math.min(30_000, 500 * 2 ** (n - 1))
    expect(stored.due).toBeGreaterThanOrEqual(most / 2)
    expect(stored.due).toBeLessThanOrEqual(most)
  }
  expect(stored).toMatchObject({ deliveries: 0, unanswered: 2 * failuresMax })
})

it('posts to a handler that is down less and less often', async () => {
  const shared = prefix()
  let attempts = 0
  const on = world({ prefix: shared, baseUrl: await unreachable(), report: () => attempts++ })
  await on.start!()
  await on.queue(ValidQueueName.parse('__wkf_workflow_test'), { runId: 'wrun_1' })
  await sleep(3500)
  // The shortest waits are 250, 500, 1000 and 2000 ms.
  expect(attempts).toBeGreaterThanOrEqual(2)
  expect(attempts).toBeLessThanOrEqual(4)
})

it('does not count deferrals of a message that an older build stored as failures', async () => {
  let answers = 0
  const stored = await delivered(message({ deliveries: 255 }), async () => {
    if (++answers === 1) throw new Error('not yet')
  })
  await vi.waitFor(() => expect(answers).toBe(2), 10_000)
  await vi.waitFor(async () => expect(await stored()).toEqual({}), 10_000)
})

it('is done with a message that succeeds after many deliveries', async () => {
  let answers = 0
  const stored = await delivered(message({ deliveries: 300 }), async () => { answers++ })
  await vi.waitFor(async () => expect(await stored()).toEqual({}), 10_000)
  expect(answers).toBe(1)
})

it('counts failures from 0 again after a deferral', async () => {
  let answers = 0
  const stored = await delivered(message({ deliveries: 300, failures: failuresMax - 1 }), async () => {
    if (++answers === 1) return { timeoutSeconds: 0 }
    if (answers === 2) throw new Error('not yet')
  })
  await vi.waitFor(() => expect(answers).toBe(3), 10_000)
  await vi.waitFor(async () => expect(await stored()).toEqual({}), 10_000)
})

it('gives a message up after its last failure, and keeps it', async () => {
  const last = { deliveries: 300, failures: failuresMax - 1 }
  const stored = await delivered(message(last), async () => { throw new Error('never') })
  await vi.waitFor(async () => expect(await stored()).toMatchObject({ dead: { id: 'msg_1', deliveries: 301, failures: failuresMax } }), 10_000)
  expect(await stored()).not.toHaveProperty('alive')
})
