// Uses the clients that openapi-typescript and @hey-api/openapi-ts generate against a node, and
// fails if an answer is not as the types say.
import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { paths } from './build/schema.js'
import { client } from './build/hey/client.gen.js'
import { appendEntries, commit, getValue, putValue, watchThread } from './build/hey/index.js'

const baseUrl = process.env['DORMOUSE_URLS']!.split(',')[0]!

async function openapiTypescript(): Promise<void> {
  const api = createClient<paths>({ baseUrl })
  const put = await api.PUT('/v1/checkpoints/{key}', { params: { path: { key: 'ts' } }, body: { state: { step: 1 } } })
  assert.equal(put.data?.revision, 1)
  const done = await api.POST('/v1/commits', {
    body: { ops: [{ op: 'put_checkpoint', key: 'ts', state: { step: 2 } }, { op: 'take_claim', claim: 'ts', holder: 'check' }] },
  })
  const [first, second] = done.data!.results
  assert(first?.op === 'put_checkpoint' && second?.op === 'take_claim')
  assert.equal(first.revision, 2) // the compiler knows the members by the name of the op
  assert(second.epoch! > 0)
  const read = await api.POST('/v1/reads', { body: { reads: [{ read: 'get_checkpoint', key: 'ts' }, { read: 'get_value', key: 'no' }] } })
  const [found, missing] = read.data!.answers
  assert(found?.read === 'get_checkpoint' && missing?.read === 'get_value')
  assert.deepEqual(found.found?.state, { step: 2 })
  assert.equal(missing.error?.code, 'not_found')
  const refused = await api.POST('/v1/threads/{id}/entries', { params: { path: { id: 'ts' } }, body: { expected_rev: 9, entries: [{}] } })
  assert.equal(refused.response.status, 409)
  assert.equal(refused.error?.code, 'conflict')
}

async function heyApi(): Promise<void> {
  client.setConfig({ baseUrl })
  const put = await putValue({ path: { key: 'hey' }, body: new Blob(['bytes']) })
  assert.equal(put.data?.revision, 1)
  const got = await getValue({ path: { key: 'hey' }, parseAs: 'blob' })
  assert(got.data instanceof Blob)
  assert.equal(await got.data.text(), 'bytes')
  const appended = await appendEntries({ path: { id: 'hey' }, body: { entries: [{ kind: 'message', payload: { text: 'hello' } }] } })
  assert.equal(appended.data?.rev, 1)
  const done = await commit({ body: { ops: [{ op: 'append_thread', thread: 'hey', entries: [{ kind: 'note' }] }] } })
  const [result] = done.data!.results
  assert(result?.op === 'append_thread')
  assert.equal(result.rev, 2)
  const aborted = new AbortController()
  const { stream } = await watchThread({ path: { id: 'hey' }, signal: aborted.signal })
  const seqs: number[] = []
  for await (const data of stream) {
    assert('payload' in data)
    if (seqs.push(data.seq) === 2) break
  }
  aborted.abort()
  assert.deepEqual(seqs, [0, 1])
}

await openapiTypescript()
console.log('openapi-typescript: ok')
await heyApi()
console.log('@hey-api/openapi-ts: ok')
