import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RefusedError, UnknownError, settle } from '../src/index.js'
import { parseEvents, type ServerEvent } from '../src/events.js'
import { encode } from '../src/json.js'
import { broken, ends, json, lost, problem, scripted, stream, type Got, type Reply } from './kit.js'

const stamp = json({ key: 'k', revision: 1, created_at: 1, updated_at: 1 }, 201)

test('a write is sent again under one idempotency key, at another node', async () => {
  const { client, got } = scripted([lost, problem('unknown', 504), problem('unavailable', 503), stamp])
  const done = await client.checkpoints.put('k', { state: {} })
  assert.equal(done.revision, 1)
  assert.equal(new Set(got.map((each) => each.headers.get('idempotency-key'))).size, 1)
  assert.equal(new Set(got.map((each) => each.url.host)).size, 3)
})

test('a write with an unknown outcome is an UnknownError with its key', async () => {
  const { client, got } = scripted([lost], ends)
  const outcome = await settle(client.checkpoints.put('k', { state: {} }))
  assert.equal(outcome.outcome, 'unknown')
  assert(outcome.outcome === 'unknown' && outcome.error instanceof UnknownError)
  assert.equal(outcome.error.idempotencyKey, got[0]!.headers.get('idempotency-key'))
})

test('a write that was only refused in passing is refused', async () => {
  const { client } = scripted([problem('unavailable', 503)], ends)
  const outcome = await settle(client.checkpoints.put('k', { state: {} }))
  assert(outcome.outcome === 'refused' && outcome.error.code === 'unavailable')
})

test('a refusal of a later attempt that says nothing of an earlier one is unknown', async () => {
  for (const code of ['forbidden', 'unauthenticated', 'read_only', 'quota_exceeded', 'corrupt'] as const) {
    const { client } = scripted([lost, problem(code, 403)])
    assert.equal((await settle(client.checkpoints.put('k', { state: {} }))).outcome, 'unknown', code)
  }
})

test('a write is unknown after an error that does not say whether it was applied', async () => {
  for (const code of ['internal', 'request_expired'] as const) {
    for (const before of [[], [lost], [problem('unavailable', 503)]]) {
      const { client, got } = scripted([...before, problem(code, 500)])
      const outcome = await settle(client.checkpoints.put('k', { state: {} }))
      assert(outcome.outcome === 'unknown' && outcome.error.idempotencyKey === got[0]!.headers.get('idempotency-key'), code)
    }
    const { client } = scripted([problem(code, 500)])
    const outcome = await settle(client.checkpoints.get('k'))
    assert(outcome.outcome === 'refused' && outcome.error.code === code)
  }
})

test('a refusal of the state machine is final', async () => {
  const { client, got } = scripted([lost, problem('revision_mismatch', 409, { revision: 7 })])
  await assert.rejects(client.checkpoints.put('k', { state: {}, if_revision: 1 }), (error) => {
    assert(error instanceof RefusedError)
    assert.equal(error.code, 'revision_mismatch')
    assert.equal(error.problem.revision, 7)
    return true
  })
  assert.equal(got.length, 2)
})

test('a call without an idempotency key is not sent again after a lost answer', async () => {
  const { client, got } = scripted([lost])
  const outcome = await settle(client.call({ method: 'POST', path: '/v1/managers/{manager}/instances/{key}/touch', params: { manager: 'm', key: 'k' }, body: {} }))
  assert.equal(outcome.outcome, 'unknown')
  assert.equal(got.length, 1)
})

test('a token without a hash is created without an idempotency key, and once', async () => {
  const token = { method: 'POST', path: '/v1/tokens' } as const
  const body = { principal: 'ci', grants: [] }
  const made = scripted([json({ id: 'tok_1', secret: 's' }, 201)])
  await made.client.call({ ...token, body })
  await made.client.call({ ...token, body, idempotencyKey: 'mine' })
  assert.deepEqual(made.got.map((each) => each.headers.get('idempotency-key')), [null, 'mine'])
  const once = scripted([lost])
  const outcome = await settle(once.client.call({ ...token, body }))
  assert(outcome.outcome === 'unknown' && outcome.error.idempotencyKey === undefined)
  assert.equal(once.got.length, 1)
  const hashed = scripted([lost, json({ id: 'tok_1' }, 201)])
  await hashed.client.call({ ...token, body: { ...body, hash: 'ab' } })
  assert.deepEqual([hashed.got.length, new Set(hashed.got.map((each) => each.headers.get('idempotency-key'))).size], [2, 1])
  assert(hashed.got[0]!.headers.get('idempotency-key'))
})

test('a read is never unknown', async () => {
  const { client } = scripted([lost], ends)
  const outcome = await settle(client.checkpoints.get('k'))
  assert(outcome.outcome === 'refused' && outcome.error.code === 'unavailable')
})

test('a broken answer is like a lost one', async () => {
  const { client, got } = scripted([broken, stamp])
  assert.equal((await client.checkpoints.put('k', { state: {} })).revision, 1)
  assert.equal(new Set(got.map((each) => each.headers.get('idempotency-key'))).size, 1)
  const alone = scripted([broken], ends).client
  assert.equal((await settle(alone.checkpoints.put('k', { state: {} }))).outcome, 'unknown')
  const read = await settle(alone.checkpoints.get('k'))
  assert(read.outcome === 'refused' && read.error.code === 'internal')
})

test('a value that is no JSON is its bytes', async () => {
  const { bytes } = await scripted([broken]).client.values.get('k')
  assert.equal(new TextDecoder().decode(bytes), '{"key":')
})

test('an option that is undefined is that of the client', async () => {
  const { client, got } = scripted([stamp])
  const fenced = client.with({ scope: 'acme', fence: { claim: 'c', epoch: 1 } })
  const none = { scope: undefined, fence: undefined } as object
  await fenced.checkpoints.put('k', { state: {} }, none)
  await fenced.with(none).checkpoints.put('k', { state: {} })
  await fenced.values.get('k', none)
  assert.deepEqual(got.map((each) => each.headers.get('dormouse-scope')), ['acme', 'acme', 'acme'])
  assert.deepEqual(got.map((each) => each.headers.get('dormouse-fence')), ['claim="c";epoch=1', 'claim="c";epoch=1', null])
})

test('a read gets stale and min_index only if it takes them', async () => {
  const { client, got } = scripted([stream('event: change\ndata: {}\nid: 1\n\n')])
  const at = client.with({ stale: true, minIndex: 7 })
  await at.changes().next()
  const { client: reader, got: reads } = scripted([json({})])
  const instance = { manager: 'm', key: 'k' }
  for (const [path, params] of [['/v1/checkpoints/{key}', { key: 'k' }], ['/v1/whoami', {}], ['/v1/managers/{manager}/instances/{key}', instance], ['/v1/cluster/log', {}]] as const) {
    await reader.with({ stale: true, minIndex: 7 }).call({ method: 'GET', path, params })
  }
  assert.deepEqual([...got, ...reads].map((each) => each.url.search), ['', '?stale=true&min_index=7', '?stale=true', '?stale=true', ''])
})

test('a write that is aborted after it was sent is unknown, and tells its key', async () => {
  const reason = new Error('enough')
  const hangs = (stop: () => void): Reply => () => {
    stop()
    return new Promise<Response>(() => undefined)
  }
  const pauses = (stop: () => void): Reply => async () => { // it is aborted while the client waits for the next attempt
    setTimeout(stop)
    return problem('unknown', 504, { retry_after_ms: 30_000 })({} as Got)
  }
  for (const script of [hangs, pauses]) {
    const controller = new AbortController()
    const { client, got } = scripted([script(() => controller.abort(reason))])
    const outcome = await settle(client.threads.append('t', [], { signal: controller.signal }))
    assert(outcome.outcome === 'unknown' && outcome.error.cause === reason)
    assert.equal(outcome.error.idempotencyKey, got[0]!.headers.get('idempotency-key'))
    const read = new AbortController()
    await assert.rejects(scripted([script(() => read.abort(reason))]).client.checkpoints.get('k', { signal: read.signal }), reason)
  }
})

test('a write that is aborted before it was sent, or after a refusal, ends with the reason', async () => {
  const reason = new Error('enough')
  const { client, got } = scripted([stamp])
  await assert.rejects(client.checkpoints.put('k', { state: {} }, { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(got.length, 0)
  const controller = new AbortController()
  const refused = scripted([async (each) => {
    setTimeout(() => controller.abort(reason))
    return problem('overloaded', 429, { retry_after_ms: 30_000 })(each)
  }])
  await assert.rejects(refused.client.checkpoints.put('k', { state: {} }, { signal: controller.signal }), reason)
})

test('an aborted signal ends a call with its reason', async () => {
  const { client } = scripted([lost], { timeoutMs: 60_000 })
  const reason = new Error('no longer wanted')
  const signal = AbortSignal.timeout(50)
  await assert.rejects(client.checkpoints.get('k', { signal }), { name: 'TimeoutError' })
  await assert.rejects(client.checkpoints.get('k', { signal: AbortSignal.abort(reason) }), reason)
})

test('an overloaded node is asked again after the time that it names', async () => {
  const { client } = scripted([problem('overloaded', 429, { retry_after_ms: 60 }), stamp])
  const began = performance.now()
  await client.checkpoints.put('k', { state: {} })
  assert(performance.now() - began >= 55)
})

test('a node that names no time to wait is not asked again without a pause', async () => {
  const { client, got } = scripted([problem('overloaded', 429, { retry_after_ms: 0 })], ends)
  const outcome = await settle(client.checkpoints.put('k', { state: {} }))
  assert(outcome.outcome === 'refused' && outcome.error.code === 'overloaded')
  assert(got.length < 10, String(got.length))
})

test('ids are percent-encoded, and scope, fence, token and cluster are sent', async () => {
  const cluster = json({ key: 'k', revision: 1, created_at: 1, updated_at: 1 }, 201, { 'Dormouse-Cluster': 'c1' })
  const { client, got } = scripted([cluster, cluster], { token: () => Promise.resolve('secret'), scope: 'ä' })
  const fenced = client.fenced({ claim: 'session:s1', epoch: 7 })
  await fenced.checkpoints.put('a/b ü', { state: {} })
  await fenced.checkpoints.put('a', { state: {} })
  assert.equal(got[0]!.url.pathname, '/v1/checkpoints/a%2Fb%20%C3%BC')
  assert.equal(got[0]!.headers.get('dormouse-fence'), 'claim="session:s1";epoch=7')
  assert.equal(got[0]!.headers.get('authorization'), 'Bearer secret')
  assert.deepEqual([...got[0]!.headers.get('dormouse-scope')!].map((c) => c.charCodeAt(0)), [0xc3, 0xa4])
  assert.equal(got[0]!.headers.get('dormouse-cluster'), null)
  assert.equal(got[1]!.headers.get('dormouse-cluster'), 'c1')
})

test('entries with bytes, their order and the metadata of a thread are sent', async () => {
  const bytes = new Uint8Array([0, 255, 10])
  const { client, got } = scripted([json({ rev: 1 }), () => new Response(bytes), json({ rev: 2 }), json({ items: [] })])
  await client.threads.appendBytes('t', bytes, { contentType: 'image/png', entry: 'e0', kind: 'image', expectedRev: 0 })
  assert.deepEqual(await client.threads.entryBytes('t', 'e0'), bytes)
  await client.threads.append('t', [{ kind: 'note' }], { metadata: { title: 'a' } })
  await client.threads.entries('t', { order: 'desc' })
  assert.deepEqual(got.map((each) => each.url.pathname + each.url.search), [
    '/v1/threads/t/bytes?entry=e0&entry_kind=image&expected_rev=0', '/v1/threads/t/entries/e0/bytes', '/v1/threads/t/entries', '/v1/threads/t/entries?order=desc',
  ])
  assert.equal(got[0]!.headers.get('content-type'), 'image/png')
  assert.deepEqual(JSON.parse(got[2]!.body), { entries: [{ kind: 'note' }], metadata: { title: 'a' } })
})

test('what no header can carry is refused before the first attempt', async () => {
  for (const [name, options] of Object.entries({
    token: { token: 'a\nb' }, 'token of a function': { token: () => Promise.resolve('a\r\nb') }, 'token beyond Latin-1': { token: '\u{1f600}' }, scope: { scope: 'a\nb' },
  })) {
    const { client, got } = scripted([stamp], { ...options, timeoutMs: 60_000 })
    const outcome = await settle(client.checkpoints.put('k', { state: {} }))
    assert(outcome.outcome === 'refused' && outcome.error.code === 'invalid', name)
    assert.equal(got.length, 0, name)
  }
  const { client, got } = scripted([stamp], { timeoutMs: 60_000 })
  const outcome = await settle(client.checkpoints.put('k', { state: {} }, { idempotencyKey: 'a\nb' }))
  assert(outcome.outcome === 'refused' && outcome.error.code === 'invalid')
  assert.equal(got.length, 0)
})

test('the token of a file ends with a line break', async () => {
  const { client, got } = scripted([stamp], { token: 'secret\n' })
  await client.checkpoints.put('k', { state: {} })
  assert.equal(got[0]!.headers.get('authorization'), 'Bearer secret')
})

test('a token that breaks after a lost attempt leaves the outcome unknown', async () => {
  let asked = 0
  const { client } = scripted([lost, stamp], { token: () => (asked++ === 0 ? 'secret' : 'a\nb') })
  assert.equal((await settle(client.checkpoints.put('k', { state: {} }))).outcome, 'unknown')
})

test('an endpoint that is no URL is refused', () => {
  for (const endpoint of ['127.0.0.1:7600', 'localhost:7600', 'ftp://a', 'http://', 'http://a b', '']) {
    assert.throws(() => scripted([], { endpoints: endpoint }), (error) => error instanceof RefusedError && error.code === 'invalid', endpoint)
  }
  scripted([], { endpoints: ['HTTP://a:1/', 'https://[::1]:7600/prefix/'] })
})

test('a claim that was lost needs no release', async () => {
  const taken = json({ name: 'c', holder: 'h', epoch: 7 })
  const fenced = scripted([taken, problem('fenced', 409, { epoch: 8, holder: 'other' })])
  await (await fenced.client.claims.hold('c', 'h')).release()
  assert.equal(fenced.got.length, 2)
  const refused = scripted([taken, problem('forbidden', 403)])
  const hold = await refused.client.claims.hold('c', 'h')
  await assert.rejects(hold.release(), { code: 'forbidden' })
  const lapsed = scripted([taken])
  const short = await lapsed.client.claims.hold('c', 'h', { ttlMs: 0 })
  if (!short.signal.aborted) await new Promise((resolve) => { short.signal.addEventListener('abort', resolve) })
  await short.release()
  assert.equal(lapsed.got.length, 1)
})

test('lone surrogates are replaced or refused', async () => {
  const half = '\uD83D'
  assert.equal(encode({ [`k${half}`]: [half, '😀', '\\ud83d'] }, 'replace'), JSON.stringify({ 'k\uFFFD': ['\uFFFD', '😀', '\\ud83d'] }))
  assert.throws(() => encode({ text: half }, 'refuse'), RefusedError)
  const { client, got } = scripted([stamp])
  await client.checkpoints.put('k', { state: { text: `half ${half}` } })
  assert.equal(JSON.parse(got[0]!.body).state.text, 'half \uFFFD')
})

test('an answer without a problem document has a code all the same', async () => {
  const { client } = scripted([() => new Response('<html>', { status: 502 })], ends)
  assert.equal((await settle(client.checkpoints.put('k', { state: {} }))).outcome, 'unknown')
})

const entry = (seq: number): string => `id: ${seq}\nevent: entry\ndata: {"id":"e${seq}","seq":${seq},"at":1,"kind":"note","payload":{},"refs":{}}\n\n`
const thread = json({ id: 't', incarnation: 5, rev: 4, head: '', floor: 0, created_at: 1, updated_at: 1, metadata: {}, stats: { entry_count: 4 } })

test('a watch continues after the last entry at another node, and passes on each entry once', async () => {
  const { client, got } = scripted([
    thread, stream(': open\n\n' + entry(0) + entry(1)), lost, stream(entry(1) + entry(2)), stream(entry(3) + 'event: deleted\ndata: {}\n\n'),
  ])
  const seqs: number[] = []
  await assert.rejects(async () => {
    for await (const each of client.threads.watch('t')) seqs.push(each.seq)
  }, { code: 'deleted' })
  assert.deepEqual(seqs, [0, 1, 2, 3])
  assert.equal(got[1]!.url.searchParams.get('incarnation'), '5')
  assert.deepEqual(got.slice(1).map((each) => each.headers.get('last-event-id')), [null, '1', '1', '2'])
})

test('a watch of a claim passes on each holder once, also if the claim was renewed meanwhile', async () => {
  const claim = (members: object): string => `event: claim\ndata: ${JSON.stringify({ name: 'c', ...members })}\n\n`
  const held = (epoch: number, until: number): object => ({ holder: 'w', epoch, ttl_ms: 1000, expires_at: until })
  const { client } = scripted([
    stream(claim(held(3, 1))), stream(claim(held(3, 2)) + claim({})), stream(claim({}) + claim(held(4, 3))), stream(claim(held(4, 4)) + claim(held(5, 5))),
  ])
  const seen: unknown[] = []
  for await (const each of client.claims.watch('c')) if (seen.push(each.expires_at) === 4) break
  assert.deepEqual(seen, [1, undefined, 3, 5])
})

test('a watch waits before it asks again a node that opens its stream and refuses then', async (t) => {
  const waits: number[] = []
  const later = globalThis.setTimeout
  t.mock.method(globalThis, 'setTimeout', (done: () => void, ms: number) => {
    if (ms >= 10_000) return later(done, ms) // the limits of opening and of silence
    waits.push(ms)
    return later(done, 0)
  })
  const refused = (more: object): Reply => stream(`: open\n\nevent: problem\ndata: ${JSON.stringify({ code: 'overloaded', detail: 'd', status: 429, ...more })}\n\n`)
  const change = stream('id: 1\nevent: change\ndata: {"index":1,"time":1,"kind":"value","key":"k","revision":1}\n\n')
  const { client } = scripted([refused({}), refused({}), refused({}), refused({}), refused({ retry_after_ms: 1234 }), change, change])
  const changes = client.changes()
  await changes.next()
  const backoffs = waits.slice(2, 4)
  assert.deepEqual([waits[0], waits[1], waits[4], waits.length], [0, 0, 1234, 5])
  assert(backoffs.every((ms) => ms > 0), String(backoffs))
  await changes.next()
  assert.deepEqual(waits.slice(5), [0]) // an event came
  await changes.return()
})

test('a watch leaves a node that does not open its stream', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let called = (): void => undefined
  const asked = new Promise<void>((resolve) => { called = resolve })
  const hung: Reply = () => new Promise(() => called())
  const { client, got } = scripted([hung, stream('id: 1\nevent: change\ndata: {"index":1,"time":1,"kind":"value","key":"k","revision":1}\n\n')])
  const changes = client.changes()
  const first = changes.next()
  await asked
  t.mock.timers.tick(10_000)
  t.mock.timers.reset()
  assert.equal((await first).value?.place, '1')
  await changes.return()
  assert.notEqual(got[0]!.url.host, got[1]!.url.host)
})

test('changes continue after a place, and after ids without data', async () => {
  const change = (id: string): string => `id: ${id}\nevent: change\ndata: {"index":1,"time":1,"kind":"value","key":"k","revision":1}\n\n`
  const { client, got } = scripted([stream(change('7.0') + 'id: 9\n\n'), stream(change('10.0') + 'event: compacted\ndata: {}\n\n')])
  const places: string[] = []
  await assert.rejects(async () => {
    for await (const each of client.changes({ after: '6.1' })) places.push(each.place)
  }, { code: 'compacted' })
  assert.deepEqual(places, ['7.0', '10.0'])
  assert.deepEqual(got.map((each) => each.headers.get('last-event-id')), ['6.1', '9'])
})

test('events are parsed whatever the pieces in which they arrive', async () => {
  const text = ': hello\r\nid: 1\r\nevent: a\r\ndata: x\r\ndata: é\r\n\r\nid: 2\n\ndata:y\n\n'
  const bytes = new TextEncoder().encode(text)
  for (let size = 1; size < bytes.length; size++) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
        controller.close()
      },
    })
    const events: ServerEvent[] = []
    for await (const event of parseEvents(body, () => undefined)) events.push(event)
    assert.deepEqual(events, [
      { event: 'a', data: 'x\né', id: '1' }, { event: 'message', data: '', id: '2' }, { event: 'message', data: 'y', id: '2' },
    ], `pieces of ${size}`)
  }
})

test('a large event arrives in many pieces', async () => {
  const size = 4 << 20
  const bytes = new TextEncoder().encode(`data: ${'x'.repeat(size)}\n\n`)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + 1024))
      at += 1024
    },
  })
  let events = 0
  for await (const event of parseEvents(body, () => undefined)) {
    assert.equal(event.data.length, size)
    events++
  }
  assert.equal(events, 1)
})

test('a hold renews itself, and is lost when a renewal is refused', async () => {
  const claim = json({ name: 'c', holder: 'w', epoch: 3, ttl_ms: 1500 })
  const { client, got } = scripted([claim, claim, problem('fenced', 409)])
  const hold = await client.claims.hold('c', 'w', { ttlMs: 1500 })
  assert.deepEqual(hold.fence, { claim: 'c', epoch: 3 })
  await new Promise((resolve) => hold.signal.addEventListener('abort', resolve, { once: true }))
  assert.match(String(hold.signal.reason), /fenced/)
  assert.equal(got.length, 3)
})

test('a hold is lost once it could not be renewed within its ttl', async () => {
  const { client } = scripted([json({ name: 'c', holder: 'w', epoch: 3, ttl_ms: 60 }), lost])
  const hold = await client.claims.hold('c', 'w', { ttlMs: 60 })
  await new Promise((resolve) => hold.signal.addEventListener('abort', resolve, { once: true }))
  assert.match(String(hold.signal.reason), /in time/)
})

test('results and answers have the types of their ops and reads', async () => {
  const { client } = scripted([
    json({ index: 1, time: 1, results: [{ op: 'put_checkpoint', key: 'k', revision: 2, created_at: 1, updated_at: 1 }, { op: 'take_claim', name: 'c', epoch: 3 }] }),
    json({ index: 1, answers: [{ read: 'get_claim', found: { name: 'c', epoch: 3 } }, { read: 'get_value', error: { code: 'not_found' } }] }),
  ])
  const done = await client.commit([{ op: 'put_checkpoint', key: 'k', state: {} }, { op: 'take_claim', claim: 'c', holder: 'w' }])
  const [put, take] = done.results
  const revision: number = put.revision
  const epoch: number | undefined = take.epoch
  assert.deepEqual([revision, epoch], [2, 3])
  const { answers: [found, missing] } = await client.read([{ read: 'get_claim', claim: 'c' }, { read: 'get_value', key: 'k' }])
  assert.equal(found.found?.epoch, 3)
  assert.equal(missing.error?.code, 'not_found')
})

test('an id of one or two dots would be another path, and is refused', async () => {
  const { client, got } = scripted([json({ key: 'k', revision: 1 })])
  for (const id of ['.', '..']) await assert.rejects(client.checkpoints.get(id), /choose another id/)
  assert.equal(got.length, 0)
})
