// Attempts on slow connections: their time counts from the last part that came or went.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Client, type Options } from '../src/index.js'
import { parseEvents } from '../src/events.js'
import { byNode } from '../src/send.js'
import { listen } from './kit.js'

/** What a node does when the client waits for a part of an answer, counted from 0: it gives the part, ends the answer, or gives nothing. */
type Script = (part: number) => Uint8Array | 'end' | 'nothing'

/**
 * Returns a client whose nodes give their answers part by part, each by its script, and the hosts that were asked. A part is asked for
 * when the client has taken the one before.
 */
function trickling(t: TestContext, scripts: Script[], options: Partial<Options>): { client: Client; hosts: string[] } {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const hosts: string[] = []
  const answer = async (input: string | URL | globalThis.Request, init: RequestInit = {}): Promise<Response> => {
    const script = scripts[hosts.length]!
    hosts.push(new URL(String(input)).host)
    let part = 0
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        init.signal!.addEventListener('abort', () => controller.error(init.signal!.reason))
      },
      pull(controller) {
        const next = script(part++)
        if (init.signal!.aborted || next === 'nothing') return
        if (next === 'end') controller.close()
        else controller.enqueue(next)
      },
    }, { highWaterMark: 0 })
    return new Response(body)
  }
  const client = new Client({ endpoints: ['http://a', 'http://b'], fetch: answer as typeof fetch, ...options })
  return { client, hosts }
}

const byte = new Uint8Array([7])

test('an answer that arrives slowly is waited for', async (t) => {
  const slow: Script = (part) => {
    t.mock.timers.tick(1500)
    return part < 10 ? byte : 'end'
  }
  const { client, hosts } = trickling(t, [slow], { attemptMs: 1000, timeoutMs: 60_000 })
  assert.equal((await client.values.get('k')).bytes.length, 10)
  assert.equal(hosts.length, 1)
})

test('an answer that no longer arrives is asked for at another node', async (t) => {
  const stops: Script = (part) => {
    if (part === 0) return byte
    t.mock.timers.tick(2000)
    return 'nothing'
  }
  const { client, hosts } = trickling(t, [stops, (part) => (part < 3 ? byte : 'end')], { attemptMs: 1000, timeoutMs: 60_000 })
  assert.equal((await client.values.get('k')).bytes.length, 3)
  assert.equal(new Set(hosts).size, 2)
})

test('an answer that arrives slowly ends with the time of its call', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const endless: Script = () => {
    now += 1500
    t.mock.timers.tick(1500)
    return byte
  }
  const { client, hosts } = trickling(t, [endless], { attemptMs: 1000, timeoutMs: 5000 })
  await assert.rejects(client.values.get('k'), { code: 'unavailable' })
  assert.equal(hosts.length, 1)
})

test('each part of an answer counts, by the HTTP client of Node', { timeout: 10_000 }, async (t) => {
  const parts = ['a', 'b', 'c', 'd']
  let more = (): void => undefined
  const url = await listen(t, (_request, response) => {
    response.flushHeaders()
    more = () => { if (parts.length > 0) response.write(parts.shift()); else response.end() }
  })
  const answer = await byNode()!({ url: `${url}/`, method: 'GET', headers: {}, body: undefined, signal: new AbortController().signal, moved: () => more() })
  assert.equal(answer.text(), 'abcd')
})

test('a long body that goes slowly is waited for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let calls = 0
  let taken = 0
  const step = 16 << 20 // more than the system keeps of a connection
  const url = await listen(t, (request, response) => {
    calls++
    let next = step
    request.on('data', (part: Buffer) => {
      taken += part.length
      if (taken < next) return
      next += step
      t.mock.timers.tick(6000)
    })
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  const client = new Client({ endpoints: url, timeoutMs: 60_000 })
  const bytes = new Uint8Array(4 * step + 1)
  for (const body of [bytes, 'x'.repeat(bytes.length)]) {
    calls = taken = 0
    await client.values.put('k', body)
    assert.deepEqual([calls, taken], [1, bytes.length])
  }
})

test('each piece of a stream is a sign of life', async () => {
  let pieces = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      for (const piece of ['data: ', 'x', '\n\n', ': idle\n']) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })
  for await (const event of parseEvents(body, () => { pieces++ })) assert.equal(event.data, 'x')
  assert.equal(pieces, 4)
})
