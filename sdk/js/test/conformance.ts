// Runs the conformance cases of sdk/conformance against a cluster: first through a follower, then
// through all nodes while the leader is killed. internal/withcluster sets the environment.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Client, RefusedError, type CallOptions, type Changed, type Entry, type Query, type Request } from '../src/index.js'

interface Step {
  call?: string
  wait_ms?: number
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  bytes?: string
  content_type?: string
  fence?: { claim: string; epoch: unknown }
  key?: string
  expect?: unknown
  expect_bytes?: string
  refused?: unknown
  same?: boolean
  save?: Record<string, string>
  within_ms?: number
}

interface Case {
  name: string
  steps: Step[]
}

const sdk = new URL('../../../', import.meta.url)
const document = JSON.parse(readFileSync(new URL('../server/rest/testdata/openapi.json', sdk), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string }>>
}
const operations = new Map<string, { method: Request['method']; path: string }>()
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, { operationId }] of Object.entries(item)) operations.set(operationId, { method: method.toUpperCase() as Request['method'], path })
}
const cases = readdirSync(new URL('conformance/', sdk)).filter((name) => name.endsWith('.json')).sort().flatMap((file) =>
  (JSON.parse(readFileSync(new URL(`conformance/${file}`, sdk), 'utf8')) as { cases: Case[] }).cases.map((each) => ({ ...each, name: `${file}: ${each.name}` })))

type Args = { params: Record<string, string>; query: Query; body: any; bytes: string | undefined; type: string | undefined; options: CallOptions }

/** The calls for which the client has a method of its own; all others go through call. */
const methods: Record<string, (c: Client, a: Args) => Promise<unknown>> = {
  'put-value': (c, a) => c.values.put(a.params['key']!, a.bytes!, { ...a.options, contentType: a.type, ifRevision: a.query['if_revision'] as number | undefined }),
  'delete-value': (c, a) => c.values.delete(a.params['key']!, a.options),
  'list-values': (c, a) => c.values.list({ ...a.options, ...a.query }),
  'put-checkpoint': (c, a) => c.checkpoints.put(a.params['key']!, a.body, a.options),
  'patch-checkpoint': (c, a) => c.checkpoints.patch(a.params['key']!, a.body, a.options),
  'get-checkpoint': (c, a) => c.checkpoints.get(a.params['key']!, a.options),
  'append-entries': (c, a) => c.threads.append(a.params['id']!, a.body.entries, { ...a.options, expectedRev: a.body.expected_rev }),
  'load-entries': (c, a) => c.threads.entries(a.params['id']!, { ...a.options, ...a.query }),
  'get-entry': (c, a) => c.threads.entry(a.params['id']!, a.params['entry']!, a.options),
  'get-thread': (c, a) => c.threads.get(a.params['id']!, a.options),
  'fork-thread': (c, a) => c.threads.fork(a.params['id']!, a.body, a.options),
  'compact-thread': (c, a) => c.threads.compact(a.params['id']!, a.body, a.options),
  'delete-thread': (c, a) => c.threads.delete(a.params['id']!, { ...a.options, sealMs: a.query['seal_ms'] as number | undefined }),
  'list-threads': (c, a) => c.threads.list({ ...a.options, ...a.query }),
  'hibernate-agent': (c, a) => c.agents.hibernate(a.params['key']!, a.body, a.options),
  'thaw-agent': (c, a) => c.agents.thaw(a.params['key']!, { ...a.options, ...a.query }),
  'take-claim': (c, a) => c.claims.take(a.params['name']!, a.body.holder, a.body.ttl_ms, a.options),
  'renew-claim': (c, a) => c.claims.renew(a.params['name']!, a.body.holder, a.body.epoch, a.body.ttl_ms, a.options),
  'release-claim': (c, a) => c.claims.release(a.params['name']!, a.body.holder, a.body.epoch, a.options),
  'put-session': (c, a) => c.sessions.put(a.params['id']!, a.body, a.options),
  'get-session': (c, a) => c.sessions.get(a.params['id']!, a.options),
  'claim-session': (c, a) => c.sessions.claim(a.params['id']!, a.body, a.options),
  'recover-session': (c, a) => c.sessions.recover(a.params['id']!, a.body, a.options),
  'checkpoint-session': (c, a) => c.sessions.checkpoint(a.params['id']!, a.body, a.options),
  'commit-session': (c, a) => c.sessions.commit(a.params['id']!, a.body, a.options),
  'get-review': (c, a) => c.reviews.get(a.params['review']!, a.options),
  'decide-review': (c, a) => c.reviews.decide(a.params['review']!, a.body, a.options),
  'put-memory': (c, a) => c.memory.put(a.params['agent']!, a.params['id']!, a.body, a.options),
  'get-memory': (c, a) => c.memory.get(a.params['agent']!, a.params['id']!, a.options),
  'delete-memory': (c, a) => c.memory.delete(a.params['agent']!, a.params['id']!, a.options),
  recall: (c, a) => c.memory.recall(a.body, a.options),
  commit: (c, a) => c.commit(a.body.ops, a.options),
  read: (c, a) => c.read(a.body.reads, a.options),
}

/** One run of a case. */
class Run {
  private readonly saved = new Map<string, unknown>()
  private before: unknown

  constructor(private readonly client: Client, private readonly scope: string) {}

  async step(step: Step): Promise<void> {
    if (step.wait_ms) return new Promise((resolve) => setTimeout(resolve, step.wait_ms))
    for (const until = Date.now() + (step.within_ms ?? 0); ; await new Promise((resolve) => setTimeout(resolve, 100))) {
      try {
        return await this.once(step)
      } catch (error) {
        if (Date.now() > until) throw error
      }
    }
  }

  private async once(step: Step): Promise<void> {
    const args: Args = {
      params: this.filled(step.params ?? {}) as Record<string, string>, query: this.filled(step.query ?? {}) as Query, body: this.filled(step.body),
      bytes: step.bytes, type: step.content_type,
      options: {
        scope: this.scope, idempotencyKey: step.key && `${this.scope}/${step.key}`,
        fence: step.fence && { claim: step.fence.claim, epoch: this.filled(step.fence.epoch) as number },
      },
    }
    let got: unknown
    try {
      got = await this.call(step.call!, args)
    } catch (error) {
      if (!(error instanceof RefusedError) || step.refused === undefined) throw error
      return this.match('', step.refused, error.problem)
    }
    assert.equal(step.refused, undefined, `it was not refused: ${JSON.stringify(got)}`)
    if (step.expect_bytes !== undefined) assert.equal(got, step.expect_bytes)
    if (step.expect !== undefined) this.match('', step.expect, got)
    if (step.same) assert.deepEqual(got, this.before)
    this.before = got
    for (const [name, pointer] of Object.entries(step.save ?? {})) {
      this.saved.set(name, pointer.slice(1).split('/').reduce((value, member) => (value as Record<string, unknown>)[member], got))
    }
  }

  private async call(name: string, args: Args): Promise<unknown> {
    if (name === 'get-value') return new TextDecoder().decode((await this.client.values.get(args.params['key']!, args.options)).bytes)
    const method = methods[name]
    if (method) return method(this.client, args)
    const { options, type: _type, ...rest } = args
    return (await this.client.call({ ...operations.get(name)!, ...rest, ...options })).body
  }

  private match(at: string, want: unknown, got: unknown): void {
    if (want !== null && typeof want === 'object' && !Array.isArray(want)) {
      const rule = want as Record<string, unknown>
      if (typeof rule['$'] === 'string') return this.match(at, this.saved.get(rule['$']), got)
      if (typeof rule['$above'] === 'number') return assert(typeof got === 'number' && got > rule['$above'], `${at} is ${got}`)
      if (rule['$any']) return assert(got !== null && got !== undefined, `${at} is missing`)
      for (const [member, each] of Object.entries(rule)) this.match(`${at}/${member}`, each, (got as Record<string, unknown> | undefined)?.[member])
      return
    }
    if (Array.isArray(want)) {
      assert(Array.isArray(got) && got.length === want.length, `${at} is ${JSON.stringify(got)}`)
      want.forEach((each, i) => this.match(`${at}/${i}`, each, got[i]))
      return
    }
    assert(isDeepStrictEqual(got, want), `${at} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
  }

  private filled(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.filled(each))
    if (value === null || typeof value !== 'object') return value
    const members = value as Record<string, unknown>
    if (typeof members['$'] === 'string') return this.saved.get(members['$'])
    return Object.fromEntries(Object.entries(members).map(([name, each]) => [name, this.filled(each)]))
  }
}

let failed = 0
let passed = 0
const started = Date.now().toString(36)

async function report(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
    passed++
  } catch (error) {
    failed++
    console.error(`FAIL ${name}\n`, error)
  }
}

async function runAll(what: string, client: Client): Promise<void> {
  await Promise.all(cases.map((each, i) => report(`${what}: ${each.name}`, async () => {
    const run = new Run(client, `js-${started}-${what}-${i}`)
    for (const [number, step] of each.steps.entries()) {
      await run.step(step).catch((error: unknown) => { throw new Error(`step ${number}, ${step.call}`, { cause: error }) })
    }
  })))
}

/** Entries are appended while the leader is killed: a watch and the feed of changes have each once. */
async function watchesAcrossAKill(client: Client, kill: () => Promise<void>): Promise<void> {
  const scoped = client.with({ scope: `js-${started}-watch` })
  const entries = 60
  const { index } = await scoped.call({ method: 'POST', path: '/v1/threads/{id}/entries', params: { id: 't' }, body: { entries: [{ id: 'e0' }] } })
  const done = new AbortController()
  const watched: Entry[] = []
  const changed: Changed[] = []
  const watch = (async () => {
    for await (const entry of scoped.threads.watch('t', { signal: done.signal })) if (watched.push(entry) === entries) return
  })()
  const feed = (async () => {
    for await (const change of scoped.changes({ fromIndex: index, prefix: 'threads/t', signal: done.signal })) if (changed.push(change) === entries) return
  })()
  for (let n = 1; n < entries; n++) {
    if (n === 15) await kill()
    await scoped.threads.append('t', [{ id: `e${n}` }], { expectedRev: n })
  }
  const late = setTimeout(() => done.abort(new Error(`in time came ${watched.length} entries and ${changed.length} changes`)), 20_000)
  await Promise.all([watch, feed])
  clearTimeout(late)
  assert.deepEqual(watched.map((entry) => [entry.seq, entry.id]), Array.from({ length: entries }, (_, n) => [n, `e${n}`]))
  assert.deepEqual(changed.map(({ change }) => change.rev), Array.from({ length: entries }, (_, n) => n + 1))
}

/** A claim is held across the kill of the leader, and passes on when it is released. */
async function holdsAcrossAKill(client: Client): Promise<void> {
  const scoped = client.with({ scope: `js-${started}-hold` })
  const hold = await scoped.claims.hold('c', 'a', { ttlMs: 12_000 })
  const next = scoped.claims.hold('c', 'b', { ttlMs: 12_000, wait: true })
  await new Promise((resolve) => setTimeout(resolve, 13_000))
  assert(!hold.signal.aborted, String(hold.signal.reason))
  await scoped.fenced(hold.fence).checkpoints.put('k', { state: {} })
  await hold.release()
  const second = await next
  assert(second.fence.epoch > hold.fence.epoch)
  await assert.rejects(scoped.fenced(hold.fence).checkpoints.put('k', { state: {} }), { code: 'fenced' })
  await second.release()
}

const control = process.env['DORMOUSE_CONTROL']!
const options = { token: process.env['DORMOUSE_TOKEN'], timeoutMs: 60_000 }
const kill = async (): Promise<void> => {
  const response = await fetch(`${control}/leader/kill`, { method: 'POST' })
  assert(response.ok, await response.text())
}
await runAll('follower', new Client({ ...options, endpoints: process.env['DORMOUSE_FOLLOWER']! }))
const client = new Client({ ...options, endpoints: process.env['DORMOUSE_URLS']!.split(',') })
await Promise.all([
  report('a watch and changes across a kill', () => watchesAcrossAKill(client, kill)),
  report('a claim is held across a kill', () => holdsAcrossAKill(client)),
  ...Array.from({ length: 4 }, (_, round) => new Promise((resolve) => setTimeout(resolve, round * 150)).then(() => runAll(`killed-${round}`, client))),
])
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
