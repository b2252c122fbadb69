// Makes calls with the library for TypeScript: one JSON document a line on stdin, and its outcome on stdout.
//
// A call has an id, a timeout_ms, and either ops or reads. Its outcome has the id, and one of done, refused, unknown
// and broken. With named it uses the library's calls of one value or thread where there are some, whose outcomes have
// no index.
import { Client, settle } from '@dormouse/client'

const client = new Client({ endpoints: process.env.CALLER_URLS.split(','), token: process.env.CALLER_TOKEN || undefined, attemptMs: 1500 })

const only = (op, ...names) => Object.keys(op).every((name) => name === 'op' || names.includes(name))

const put = async ({ key, bytes, if_revision: ifRevision }, options) => {
  const stamp = await client.values.put(key, Buffer.from(bytes, 'base64'), { ...options, ifRevision })
  return { index: 0, results: [{ op: 'put_value', ...stamp }] }
}

const remove = async ({ key }, options) => {
  await client.values.delete(key, options)
  return { index: 0, results: [{ op: 'delete_value', existed: false }] }
}

const append = async ({ thread, entries, expected_rev: expectedRev, expected_head: expectedHead }, options) => {
  const stamp = await client.threads.append(thread, entries, { ...options, expectedRev, expectedHead })
  return { index: 0, results: [{ op: 'append_thread', ...stamp }] }
}

const make = async ({ ops, reads, named, fence, scope, timeout_ms: timeoutMs }) => {
  const options = { scope, timeoutMs }
  if (reads) return client.read(reads, options)
  if (named && ops.length === 1 && !fence) {
    const [op] = ops
    if (op.op === 'put_value' && only(op, 'key', 'bytes', 'if_revision')) return put(op, options)
    if (op.op === 'delete_value' && only(op, 'key')) return remove(op, options)
    if (op.op === 'append_thread' && only(op, 'thread', 'entries', 'expected_rev', 'expected_head')) return append(op, options)
  }
  return client.commit(ops, { ...options, fence })
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

let rest = ''
process.stdin.setEncoding('utf8')
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const call = JSON.parse(line)
    process.stdout.write(JSON.stringify({ id: call.id, ...(await outcome(call)) }) + '\n')
  }
}
