// TLS, against nodes that internal/withcluster -tls started. NODE_EXTRA_CA_CERTS names their authority.
import assert from 'node:assert/strict'
import { Client, RefusedError } from '../src/index.js'

const endpoints = process.env.DORMOUSE_URLS?.split(',') ?? []
assert.ok(endpoints[0]?.startsWith('https:'), 'DORMOUSE_URLS is not https: run make sdk-js')
const client = new Client({ endpoints, token: process.env.DORMOUSE_TOKEN })
await client.values.put('tls', 'kept')
assert.equal(new TextDecoder().decode((await client.values.get('tls')).bytes), 'kept')
await client.threads.append('tls', [{ id: 'a' }])
for await (const entry of client.threads.watch('tls')) {
  assert.equal(entry.id, 'a')
  break
}
const refused = (code: string) => (error: unknown) => error instanceof RefusedError && error.code === code
await assert.rejects(new Client({ endpoints, token: 'wrong' }).values.get('tls'), refused('unauthenticated'))
const named = endpoints.map((each) => each.replace('127.0.0.1', 'localhost'))
await assert.rejects(new Client({ endpoints: named, token: process.env.DORMOUSE_TOKEN, timeoutMs: 300 }).values.get('tls'), (error: unknown) =>
  refused('unavailable')(error) && /altnames|self-signed|certificate/i.test(String((error as Error).cause)))
console.log('calls and watches go over TLS')
