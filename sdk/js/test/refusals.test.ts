import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Client, settle } from '../src/index.js'
import { ends, json, lost, problem, scripted, type Reply } from './kit.js'

const stamp = json({ key: 'k', revision: 1, created_at: 1, updated_at: 1 }, 201)
const proxy = (status: number): Reply => () => new Response('<html>', { status })

test('a proxy does not say that an earlier attempt was not applied', async () => {
  for (const status of [404, 500]) {
    const { client } = scripted([lost, proxy(status)], ends)
    assert.equal((await settle(client.checkpoints.put('k', { state: {} }))).outcome, 'unknown', String(status))
  }
  const touch = { method: 'POST', path: '/v1/managers/{manager}/instances/{key}/touch', params: { manager: 'm', key: 'k' }, body: {} } as const
  for (const status of [500, 503]) assert.equal((await settle(scripted([proxy(status)]).client.call(touch))).outcome, 'unknown', String(status))
  assert.equal((await settle(scripted([proxy(404)]).client.checkpoints.put('k', { state: {} }))).outcome, 'refused')
})

test('a proxy that says 503 may have passed the write on', async () => {
  const { client } = scripted([proxy(503)], ends)
  assert.equal((await settle(client.checkpoints.put('k', { state: {} }))).outcome, 'unknown')
  const read = await settle(client.checkpoints.get('k'))
  assert(read.outcome === 'refused' && read.error.code === 'unavailable')
})

test('a page of a proxy does not say that a write was applied', async () => {
  const { client, got } = scripted([proxy(200), stamp, () => new Response(null, { status: 204 })])
  assert.equal((await client.checkpoints.put('k', { state: {} })).revision, 1)
  await client.checkpoints.delete('k')
  assert.equal(got.length, 3)
  assert.equal((await settle(scripted([proxy(200)], ends).client.checkpoints.delete('k'))).outcome, 'unknown')
})

test('a token that cannot be read is a refusal, or leaves the outcome unknown', async () => {
  let asked = 0
  const token = (): string => {
    if (asked++ > 0) throw new Error('no token')
    return 'secret'
  }
  const { client, got } = scripted([lost, stamp], { token, timeoutMs: 60_000 })
  assert.equal((await settle(client.checkpoints.put('k', { state: {} }))).outcome, 'unknown')
  const outcome = await settle(client.checkpoints.put('k', { state: {} }))
  assert(outcome.outcome === 'refused' && outcome.error.code === 'unauthenticated')
  await assert.rejects(client.changes().next(), { code: 'unauthenticated' })
  assert.equal(got.length, 1)
})

test('an option that a call does not have is refused, and nothing is sent', async () => {
  const { client, got } = scripted([stamp])
  const wrong = { ifRevison: 3 } as object
  const refused = { code: 'invalid', message: /no option "ifRevison"/ }
  await assert.rejects(client.checkpoints.put('k', { state: {} }, wrong), refused)
  await assert.rejects(client.values.put('k', 'v', wrong), refused)
  await assert.rejects(client.values.get('k', wrong), refused)
  await assert.rejects(client.threads.delete('t', wrong), refused)
  await assert.rejects(client.claims.hold('c', 'h', wrong), refused)
  await assert.rejects(client.changes(wrong).next(), refused)
  await assert.rejects(client.with(wrong).claims.get('c'), refused)
  assert.equal(got.length, 0)
  await client.checkpoints.put('k', { state: {} }, { ifRevision: 3 })
  assert.deepEqual(JSON.parse(got[0]!.body), { state: {}, if_revision: 3 })
})

const onInstances = [
  ['POST', '/v1/managers/{manager}/instances/{key}/signals'], ['PATCH', '/v1/managers/{manager}/instances/{key}/cron'],
  ['POST', '/v1/pods/{manager}/{key}/mutate'], ['POST', '/v1/pods/{manager}/{key}/fork'],
] as const

test('a refusal of a call on an instance or a pod says nothing of an earlier attempt', async () => {
  for (const [method, path] of onInstances) {
    const request = { method, path, params: { manager: 'm', key: 'k' }, body: {} }
    for (const refused of [problem('not_found', 404), problem('thaw_failed', 409)]) {
      const { client, got } = scripted([lost, refused])
      const outcome = await settle(client.call(request))
      assert(outcome.outcome === 'unknown' && outcome.error.idempotencyKey === got[1]!.headers.get('idempotency-key'), path)
      assert.equal((await settle(scripted([refused]).client.call(request))).outcome, 'refused', path)
    }
  }
  const timer = { method: 'DELETE', path: '/v1/managers/{manager}/instances/{key}/timers/{timer}', params: { manager: 'm', key: 'k', timer: 't' } } as const
  assert.equal((await settle(scripted([lost, problem('fenced', 409)]).client.call(timer))).outcome, 'refused')
})

test('a client that is logged does not show its token', () => {
  const client = new Client({ endpoints: 'http://a', token: 'secret' })
  assert.doesNotMatch(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client), /secret/)
})

test('a fence with half of a surrogate pair and an id that is a number are sent', async () => {
  const { client, got } = scripted([stamp])
  await client.fenced({ claim: 'c\uD83D', epoch: 1 }).checkpoints.put(7 as unknown as string, { state: {} })
  assert.equal(got[0]!.headers.get('dormouse-fence'), 'claim=%"c%EF%BF%BD";epoch=1')
  assert.equal(got[0]!.url.pathname, '/v1/checkpoints/7')
})

test('a body that is no JSON is refused', async () => {
  const { client, got } = scripted([stamp])
  for (const state of [{ n: 1n }, { toJSON: () => { throw new Error('no') } }]) {
    await assert.rejects(client.checkpoints.put('k', { state: state as Record<string, unknown> }), { name: 'RefusedError', code: 'invalid' })
  }
  await assert.rejects(client.call({ method: 'PUT', path: '/v1/checkpoints/{key}', params: { key: 'k' }, body: () => 1 }), { code: 'invalid' })
  assert.equal(got.length, 0)
})

test('half of a surrogate pair is refused in each part of a request', async () => {
  const half = 'a\uD83D'
  const { client, got } = scripted([stamp], { loneSurrogates: 'refuse' })
  for (const call of [
    client.checkpoints.get(half), client.checkpoints.list({ prefix: half }), client.checkpoints.get('k', { scope: half }),
    client.checkpoints.delete('k', { idempotencyKey: half }), client.values.put('k', half), client.fenced({ claim: half, epoch: 1 }).checkpoints.delete('k'),
  ]) await assert.rejects(call, { name: 'RefusedError', code: 'invalid' })
  assert.equal(got.length, 0)
})
