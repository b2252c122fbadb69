// Makes calls with the library for TypeScript: one JSON document a line on stdin, and its outcome on stdout.
//
// A call has an id, a timeout_ms, and ops, reads, or the one call of an op or a read. Its outcome has the id, and one of
// done, refused, unknown and broken. A watch has an id and is told of in many lines, each with an event, and at its end
// with refused or broken; stop ends it.
import { Client, RefusedError, settle } from '@dormouse/client'

const client = new Client({ endpoints: process.env.CALLER_URLS.split(','), token: process.env.CALLER_TOKEN || undefined, attemptMs: 1500 })

const bytes = (call) => Buffer.from(call.data ?? '', 'base64')

// The methods of the library: what makes a call with the options, and the members of the query or of the body that it
// takes; null means any body and no query.
const methods = {
  'PUT /v1/values/{key}': [({ params, query, media, ...call }, o) =>
    client.values.put(params.key, bytes(call), { ...o, contentType: media, ttlMs: query.ttl_ms, ifRevision: query.if_revision, ifIncarnation: query.if_incarnation }), ['ttl_ms', 'if_revision', 'if_incarnation']],
  'GET /v1/values/{key}': [async ({ params }, o) => {
    const { bytes: data, contentType, revision, incarnation } = await client.values.get(params.key, o)
    return { bytes: Buffer.from(data).toString('base64'), content_type: contentType, revision, incarnation }
  }, []],
  'DELETE /v1/values/{key}': [({ params, query }, o) => client.values.delete(params.key, { ...o, ifRevision: query.if_revision, ifIncarnation: query.if_incarnation }), ['if_revision', 'if_incarnation']],
  'PUT /v1/checkpoints/{key}': [({ params, body }, o) => client.checkpoints.put(params.key, body, o), null],
  'PATCH /v1/checkpoints/{key}': [({ params, query, body }, o) => client.checkpoints.patch(params.key, body, { ...o, ifRevision: query.if_revision }), ['if_revision']],
  'GET /v1/checkpoints/{key}': [({ params }, o) => client.checkpoints.get(params.key, o), []],
  'DELETE /v1/checkpoints/{key}': [({ params, query }, o) => client.checkpoints.delete(params.key, { ...o, ifRevision: query.if_revision }), ['if_revision']],
  'GET /v1/threads/{id}': [({ params }, o) => client.threads.get(params.id, o), []],
  'DELETE /v1/threads/{id}': [({ params, query }, o) => client.threads.delete(params.id, { ...o, sealMs: query.seal_ms }), ['seal_ms']],
  'POST /v1/threads/{id}/entries': [({ params, body }, o) =>
    client.threads.append(params.id, body.entries, { ...o, expectedRev: body.expected_rev, expectedHead: body.expected_head }), ['entries', 'expected_rev', 'expected_head'], 'body'],
  'GET /v1/threads/{id}/entries': [({ params, query }, o) =>
    client.threads.entries(params.id, { ...o, from: query.from, to: query.to, tail: query.tail, atRev: query.at_rev, limit: query.limit }), ['from', 'to', 'tail', 'at_rev', 'limit']],
  'POST /v1/threads/{id}/fork': [({ params, body }, o) => client.threads.fork(params.id, body, o), null],
  'POST /v1/claims/{name}': [({ params, body }, o) => client.claims.take(params.name, body.holder, body.ttl_ms, o), ['holder', 'ttl_ms'], 'body'],
  'POST /v1/claims/{name}/renew': [({ params, body }, o) => client.claims.renew(params.name, body.holder, body.epoch, body.ttl_ms, o), ['holder', 'epoch', 'ttl_ms'], 'body'],
  'POST /v1/claims/{name}/release': [({ params, body }, o) => client.claims.release(params.name, body.holder, body.epoch, o), ['holder', 'epoch'], 'body'],
  'GET /v1/claims/{name}': [({ params }, o) => client.claims.get(params.name, o), []],
  'PUT /v1/sessions/{id}': [({ params, body }, o) => client.sessions.put(params.id, body, o), null],
  'GET /v1/sessions/{id}': [({ params }, o) => client.sessions.get(params.id, o), []],
  'DELETE /v1/sessions/{id}': [({ params, query }, o) => client.sessions.delete(params.id, { ...o, ifRevision: query.if_revision }), ['if_revision']],
  'POST /v1/sessions/{id}/claim': [({ params, body }, o) => client.sessions.claim(params.id, body, o), null],
  'POST /v1/sessions/{id}/claim_resume': [({ params, body }, o) => client.sessions.resume(params.id, body, o), null],
  'POST /v1/sessions/{id}/recover': [({ params, body }, o) => client.sessions.recover(params.id, body, o), null],
  'POST /v1/sessions/{id}/checkpoint': [({ params, body }, o) => client.sessions.checkpoint(params.id, body, o), null],
  'POST /v1/sessions/{id}/commit': [({ params, body }, o) => client.sessions.commit(params.id, body, o), null],
  'POST /v1/sessions/{id}/renew': [({ params, body }, o) => client.sessions.renew(params.id, body, o), null],
  'GET /v1/reviews/{review}': [({ params }, o) => client.reviews.get(params.review, o), []],
  'POST /v1/reviews/{review}/decide': [({ params, body }, o) => client.reviews.decide(params.review, body, o), null],
  'PUT /v1/memory/{agent}/{id}': [({ params, body }, o) => client.memory.put(params.agent, params.id, body, o), null],
  'GET /v1/memory/{agent}/{id}': [({ params }, o) => client.memory.get(params.agent, params.id, o), []],
  'DELETE /v1/memory/{agent}/{id}': [({ params }, o) => client.memory.delete(params.agent, params.id, o), []],
  'POST /v1/memory/recall': [({ body }, o) => client.memory.recall(body, o), null],
  'GET /v1/values': [({ query }, o) => client.values.list({ ...query, ...o }), ['prefix', 'after', 'limit', 'order']],
  'GET /v1/threads': [({ query }, o) => client.threads.list({ ...query, ...o }), ['prefix', 'after', 'limit', 'order']],
  'GET /v1/sessions': [({ query }, o) => client.sessions.list({ ...query, ...o }), ['prefix', 'after', 'limit', 'order', 'status', 'owner', 'agent_id', 'recoverable']],
  'GET /v1/reviews': [({ query }, o) => client.reviews.list({ ...query, ...o }), ['after', 'limit', 'status', 'before', 'assignee', 'session']],
  'GET /v1/checkpoints/{key}/history': [({ params }, o) => client.checkpoints.history(params.key, o), []],
  'GET /v1/agents/{key}/thaw': [({ params, query }, o) => client.agents.thaw(params.key, { ...o, tail: query.tail }), ['tail']],
}

// alone makes one call with the library's method, or with its call of any path if the method does not take all.
const alone = async (call, options) => {
  const [method, takes, where = 'query'] = methods[`${call.method} ${call.path}`] ?? []
  const given = Object.keys(takes === null ? call.query : call[where])
  if (method && given.every((name) => takes?.includes(name))) return (await method(call, options)) ?? null
  const { method: verb, path, params, query, media, body } = call
  const sent = call.data === undefined ? { body } : { bytes: bytes(call) }
  return (await client.call({ ...options, method: verb, path, params, query, headers: media ? { 'Content-Type': media } : {}, ...sent })).body ?? null
}

const make = async ({ ops, reads, call, fence, scope, timeout_ms: timeoutMs }) => {
  const options = { scope, timeoutMs }
  if (reads) return client.read(reads, options)
  return call ? alone(call, fence ? { ...options, fence } : options) : client.commit(ops, { ...options, fence })
}

const outcome = async (call) => {
  try {
    const told = await settle(make(call))
    if (told.outcome === 'done') return { done: told.value }
    return told.outcome === 'refused' ? { refused: told.error.problem } : { unknown: told.error.message }
  } catch (error) {
    return { broken: String(error?.stack ?? error) }
  }
}

const tell = (line) => process.stdout.write(JSON.stringify(line) + '\n')

const watches = new Map() // :: id → what ends the watch

const opened = ({ thread, claim, from, after, prefix, incarnation }, options) => {
  if (thread) return client.threads.watch(thread, { ...options, from, incarnation })
  return claim ? client.claims.watch(claim, options) : client.changes({ ...options, prefix, fromIndex: from, after })
}

const follow = async (id, asked, scope) => {
  const ends = new AbortController()
  watches.set(id, ends)
  try {
    for await (const item of opened(asked, { scope, signal: ends.signal })) {
      tell(asked.changes ? { id, event: item.change, place: item.place } : { id, event: item })
    }
    tell({ id, ended: true })
  } catch (error) {
    if (!ends.signal.aborted) tell(error instanceof RefusedError ? { id, refused: error.problem } : { id, broken: String(error?.stack ?? error) })
  }
}

let rest = ''
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const call = JSON.parse(line)
    if (call.stop) {
      watches.get(call.stop)?.abort()
      watches.delete(call.stop)
    } else if (call.watch) void follow(call.id, call.watch, call.scope)
    else tell({ id: call.id, ...(await outcome(call)) })
  }
}
process.exit() // open watches do not keep it
