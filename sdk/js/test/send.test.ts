// The calls of the client against a real HTTP server: on Node they do not go through fetch.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Client, RefusedError, UnknownError, type Options } from '../src/index.js'
import { byNode } from '../src/send.js'
import { listen } from './kit.js'

/** Serves until the test ends and returns a client of the server. */
async function serving(t: TestContext, listener: RequestListener, options: Partial<Options> = {}): Promise<Client> {
  return new Client({ endpoints: await listen(t, listener), timeoutMs: 60_000, ...options })
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

test('a call sends its headers and body, and reuses the connection', async (t) => {
  const ports = new Set<number>()
  const got: { headers: IncomingMessage['headers']; body: string }[] = []
  const client = await serving(t, async (request, response) => {
    ports.add(request.socket.remotePort!)
    got.push({ headers: request.headers, body: await bodyOf(request) })
    response.setHeader('content-type', 'application/json').setHeader('dormouse-index', '7').setHeader('set-cookie', ['a', 'b']).end('{"é":1}')
  }, { token: 'secret', scope: 'büro' })
  for (let n = 0; n < 3; n++) {
    const answer = await client.call({ method: 'POST', path: '/v1/commits', body: { ops: [], text: 'é' } })
    assert.deepEqual([answer.status, answer.index, answer.body, answer.headers.get('dormouse-index')], [200, 7, { é: 1 }, '7'])
    assert.deepEqual(answer.headers.getSetCookie(), ['a', 'b'])
  }
  assert.equal(ports.size, 1)
  const { headers, body } = got[0]!
  assert.deepEqual(JSON.parse(body), { ops: [], text: 'é' })
  assert.equal(headers.authorization, 'Bearer secret')
  assert.equal(Buffer.from(headers['dormouse-scope'] as string, 'latin1').toString(), 'büro')
  assert.equal(headers['content-length'], String(Buffer.byteLength(body)))
  assert.match(headers.host!, /^127\.0\.0\.1:\d+$/)
  assert.equal(new Set(got.map((each) => each.headers['idempotency-key'])).size, 3)
})

test('a header cannot hold a line break', async (t) => {
  const client = await serving(t, (_request, response) => { response.end('{}') })
  await assert.rejects(client.call({ method: 'GET', path: '/v1/cluster', headers: { 'X-A': 'a\r\nX-B: b' }, timeoutMs: 50 }), RefusedError)
})

test('an answer may be compressed and come in parts', async () => {
  const text = 'x'.repeat(300_000)
  const server = createServer((_request, response) => {
    const zipped = gzipSync(text)
    response.setHeader('content-encoding', 'gzip').write(zipped.subarray(0, 100))
    setTimeout(() => response.end(zipped.subarray(100)), 5)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const answer = await byNode()!({ url, method: 'GET', headers: {}, body: undefined, signal: new AbortController().signal, moved: () => undefined })
  assert.equal(answer.text(), text)
  server.close(() => undefined).closeAllConnections()
})

test('a call ends when its signal is aborted, and the request is closed', async (t) => {
  let closed: (() => void) | undefined
  const gone = new Promise<void>((resolve) => { closed = resolve })
  const client = await serving(t, (request) => { request.on('close', () => closed?.()) })
  const controller = new AbortController()
  setTimeout(() => controller.abort(new Error('enough')), 20)
  await assert.rejects(client.call({ method: 'GET', path: '/v1/cluster', signal: controller.signal }), /enough/)
  await gone
})

test('a connection that breaks within an answer is an unknown outcome of a write, and is tried again', async (t) => {
  let calls = 0
  const client = await serving(t, (_request, response) => {
    calls++
    if (calls > 1) return void response.setHeader('content-type', 'application/json').end('{"index":3}')
    response.writeHead(200, { 'content-length': '100' }).write('{"ind')
    setTimeout(() => response.destroy(), 5)
  })
  assert.deepEqual((await client.call({ method: 'POST', path: '/v1/commits', body: {} })).body, { index: 3 })
  assert.equal(calls, 2)
  calls = 0
  // A call without an idempotency key is sent once.
  await assert.rejects(client.call({ method: 'POST', path: '/v1/cluster/backups', body: {} }), UnknownError)
  assert.equal(calls, 1)
})

/** Returns the URL of a port of loopback that refuses connections. */
async function refusing(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

for (const [name, options] of [['the HTTP client of Node', {}], ['fetch', { fetch }]] as const) {
  test(`a write that no node took a connection for is refused, by ${name}`, async () => {
    const client = new Client({ endpoints: [await refusing(), 'http://no-such-host.invalid'], timeoutMs: 100, ...options })
    await assert.rejects(client.values.put('k', 'v'), { name: 'RefusedError', code: 'unavailable' })
  })

  test(`a call that is sent once goes to the next node if the first refuses connections, by ${name}`, async (t) => {
    let calls = 0
    const up = await serving(t, (_request, response) => {
      calls++
      response.setHeader('content-type', 'application/json').end('{}')
    })
    const client = new Client({ endpoints: [await refusing(), up.transport.endpoint], timeoutMs: 60_000, ...options })
    for (let n = 0; n < 4; n++) {
      client.transport.leave(up.transport.endpoint) // the first one is refused each time
      await client.call({ method: 'POST', path: '/v1/managers/{manager}/instances/{key}/touch', params: { manager: 'm', key: 'k' }, body: {} })
    }
    assert.equal(calls, 4)
  })
}

for (const [name, options] of [['the HTTP client of Node', {}], ['fetch', { fetch }]] as const) {
  test(`a redirect does not lead the token and the body to another host, by ${name}`, { timeout: 10_000 }, async (t) => {
    const reached: string[] = []
    const other = await serving(t, (request, response) => {
      reached.push(`${request.method} ${request.url}`)
      response.end('{}')
    })
    const client = await serving(t, (request, response) => {
      response.writeHead(307, { location: other.transport.endpoint + request.url }).end()
    }, { token: 'secret', ...options })
    await assert.rejects(client.values.put('k', 'v'), { name: 'RefusedError', code: 'invalid', status: 307 })
    await assert.rejects(client.changes().next(), { name: 'RefusedError', code: 'invalid', status: 307 })
    assert.deepEqual(reached, [])
  })
}

test('a call that is sent once goes to the next node if the first makes no connection in time', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let calls = 0
  const up = await serving(t, (_request, response) => {
    calls++
    response.setHeader('content-type', 'application/json').end('{}')
  })
  // It takes connections, and is silent when it should begin with TLS.
  const silent = createTcpServer((socket) => {
    socket.on('error', () => undefined).once('data', () => t.mock.timers.tick(11_000))
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const client = new Client({ endpoints: [`https://127.0.0.1:${(silent.address() as AddressInfo).port}`, up.transport.endpoint], timeoutMs: 60_000 })
  client.transport.leave(up.transport.endpoint)
  await client.call({ method: 'POST', path: '/v1/managers/{manager}/instances/{key}/attach', params: { manager: 'm', key: 'k' }, body: {} })
  assert.equal(calls, 1)
})

test('a call does not wait for its token longer than for an answer', { timeout: 10_000 }, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let asked = 0
  let waits = (): void => undefined
  const waiting = new Promise<void>((resolve) => { waits = resolve })
  const token = (): string | Promise<string> => (asked++ > 0 ? 'secret' : new Promise(() => waits()))
  const client = await serving(t, (_request, response) => { response.setHeader('content-type', 'application/json').end('{}') }, { token })
  client.transport.pause = () => 0
  const put = client.with({ timeoutMs: 60_000 }).values.put('k', 'v')
  await waiting
  t.mock.timers.tick(11_000)
  await put
  assert.equal(asked, 2)
  const hung = new Client({ endpoints: client.transport.endpoints, token: () => new Promise(() => undefined) })
  const reason = new Error('enough')
  const controller = new AbortController()
  const [call, watch] = [hung.values.put('k', 'v', { signal: controller.signal }), hung.changes({ signal: controller.signal }).next()]
  controller.abort(reason)
  await assert.rejects(call, reason)
  await assert.rejects(watch, reason)
})
