import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Turned } from '../src/index.js'
import { json, lost, problem, scripted, stream, type Reply } from './kit.js'

const taken = json({ name: 'c', holder: 'h', epoch: 7 })

test('a hold is renewed and released in the scope in which the claim was taken', async () => {
  const { client, got } = scripted([taken], { scope: 'other' })
  const hold = await client.claims.hold('c', 'h', { scope: 'acme', ttlMs: 1500 })
  while (got.length < 2) await new Promise((resolve) => { setTimeout(resolve, 5) })
  await hold.release()
  assert.deepEqual(got.map((each) => each.url.pathname.split('/')[4]).filter((verb) => verb !== 'renew'), [undefined, 'release'])
  assert.deepEqual(new Set(got.map((each) => each.headers.get('dormouse-scope'))), new Set(['acme']))
  assert.equal(got[1]!.headers.get('dormouse-timeout-ms'), '250') // a silent node leaves time for others
})

test('the idempotency key of a hold is that of its first attempt to take the claim alone', async () => {
  const free = stream('event: claim\ndata: {"name":"c","epoch":6}\n\n')
  for (const ofClient of [false, true]) {
    const { client, got } = scripted([problem('already_claimed', 409), free, taken])
    const key = { idempotencyKey: 'mine' }
    const hold = await client.with(ofClient ? key : {}).claims.hold('c', 'h', { ...(ofClient ? {} : key), wait: true, ttlMs: 1500 })
    while (got.length < 4) await new Promise((resolve) => { setTimeout(resolve, 5) })
    await hold.release()
    const keys = got.filter((each) => each.method === 'POST').map((each) => each.headers.get('idempotency-key'))
    assert.equal(keys[0], 'mine')
    assert.deepEqual([keys.lastIndexOf('mine'), new Set(keys).size], [0, keys.length])
  }
})

const proxy: Reply = () => new Response('<html>', { status: 404 })

test('a refusal that is of one node does not lose a hold: the next node is asked', async () => {
  for (const refused of [problem('forbidden', 403), problem('unauthenticated', 401), proxy]) {
    let renewed = (): void => undefined
    const done = new Promise<void>((resolve) => { renewed = resolve })
    const { client, got } = scripted([taken, refused, refused, (each) => {
      renewed()
      return taken(each)
    }])
    const hold = await client.claims.hold('c', 'h', { ttlMs: 3000 })
    await Promise.race([done, new Promise((resolve) => { hold.signal.addEventListener('abort', resolve) })])
    assert.equal(hold.signal.aborted, false)
    assert.equal(new Set(got.slice(1).map((each) => each.url.host)).size, 3)
    await hold.release()
    assert.match(got.at(-1)!.url.pathname, /release$/)
  }
})

test('a hold whose renewals are refused by all nodes is lost at the end of its ttl', async () => {
  const { client, got } = scripted([taken, problem('forbidden', 403)])
  const hold = await client.claims.hold('c', 'h', { ttlMs: 300 })
  if (!hold.signal.aborted) await new Promise((resolve) => { hold.signal.addEventListener('abort', resolve) })
  assert.match(String(hold.signal.reason), /in time/)
  const before = got.length
  await hold.release()
  assert.equal(got.length, before)
})

test('a claim is released after a refusal that does not say that another holder has it', async () => {
  for (const [code, released] of [['invalid', true], ['fenced', false]] as const) {
    const { client, got } = scripted([taken, problem(code, 409), taken])
    const hold = await client.claims.hold('c', 'h', { ttlMs: 1500 })
    if (!hold.signal.aborted) await new Promise((resolve) => { hold.signal.addEventListener('abort', resolve) })
    await hold.release()
    assert.equal(got.at(-1)!.url.pathname.endsWith('/release'), released, code)
  }
})

test('a clock that is set back does not make a hold or a call last longer', { timeout: 30_000 }, async (t) => {
  let back = 0
  const now = Date.now.bind(Date)
  t.mock.method(Date, 'now', () => now() - (back += 60_000))
  const { client, got } = scripted([taken, lost], { timeoutMs: 100 })
  const hold = await client.claims.hold('c', 'h', { ttlMs: 600 })
  if (!hold.signal.aborted) await new Promise((resolve) => { hold.signal.addEventListener('abort', resolve) })
  await assert.rejects(client.checkpoints.get('k'), { code: 'unavailable' })
  assert(got.length > 1)
})

const turn = (lease: object): Turned => ({ lease: { lease_id: 'l', owner_id: 'w', epoch: 4, ...lease } }) as Turned

test('a turn is kept: its lease is renewed at once, with the ttl of its claim', async () => {
  for (const [lease, given, ttl] of [[{ acquired_at: 1000, expires_at: 6000 }, undefined, 5000], [{}, undefined, 30_000], [{ acquired_at: 1000, expires_at: 6000 }, 7000, 7000]] as const) {
    const { client, got } = scripted([json({})])
    const hold = await client.sessions.keep('s', turn(lease), given)
    hold.stop()
    assert.deepEqual(hold.fence, { claim: 'session:s', epoch: 4 })
    assert.deepEqual(got.map((each) => [each.url.pathname, JSON.parse(each.body)]), [['/v1/sessions/s/renew', { lease_id: 'l', owner_id: 'w', ttl_ms: ttl }]])
    assert.equal(got[0]!.headers.get('dormouse-timeout-ms'), String(Math.ceil(ttl / 6)))
  }
})

test('a turn that is no longer held, or queued, is not kept', async () => {
  const { client } = scripted([problem('fenced', 409)])
  await assert.rejects(client.sessions.keep('s', turn({})), { code: 'fenced' })
  await assert.rejects(client.sessions.keep('s', {} as Turned), /queued/)
})

test('a turn is held since its renewal was sent', { timeout: 10_000 }, async (t) => {
  const now = performance.now.bind(performance)
  let later = 0
  t.mock.method(performance, 'now', () => now() + later)
  const { client } = scripted([(got) => {
    later = 60_000
    return json({})(got)
  }])
  const { signal } = await client.sessions.keep('s', turn({ acquired_at: 1000, expires_at: 61_000 }))
  if (!signal.aborted) await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
  assert.match(String(signal.reason), /in time/)
})
