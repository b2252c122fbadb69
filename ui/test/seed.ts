import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodes, token } from './browser.js'
import { seedConversations, seedFiles, seedScopes } from './seed_data.js'

type Body = Record<string, unknown>

/** Makes a call of the API, in a scope. A body that is a text is sent as it is. It tries again while the cluster elects a leader. */
export async function call<T = Body>(method: string, path: string, body?: unknown, scope = 'default', secret = token): Promise<T> {
  const key = crypto.randomUUID()
  for (let attempt = 0; ; attempt++) {
    const node = nodes[attempt % nodes.length]!
    const response = await fetch(node + path, {
      method, headers: {
        'Dormouse-Scope': scope,
        ...(secret ? { Authorization: `Bearer ${secret}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' || /\/(decide|signals)$/.test(path) ? {} : idempotent(path, key)),
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    }).catch(() => undefined)
    if (response?.ok) return (response.status === 204 ? {} : await response.json()) as T
    if (attempt >= 20 || (response && response.status < 500)) assert.fail(`${method} ${path}: ${response?.status} ${await response?.text()}`)
    await sleep(200)
  }
}

/** Calls on instances and on the cluster take no key. */
const idempotent = (path: string, key: string): Record<string, string> => (/\/v1\/(managers\/[^/]+\/instances|pods|memory\/recall|cluster|reads|tokens)/.test(path) && !path.includes('/timers/') ? {} : { 'Idempotency-Key': key })

const id = encodeURIComponent
const hourMs = 3_600_000

/** The agents of a support desk, as a small company runs them. */
const desks = [
  { name: 'support', topics: ['a refund for order 81-2204', 'a delayed parcel to Porto', 'a broken grinder, third message', 'changing the delivery address', 'an invoice without VAT', 'a duplicate charge', 'a missing part', 'a return label'] },
  { name: 'research', topics: ['competitor prices in the Nordics', 'regulations on battery shipping', 'which reviews mention noise', 'market size of espresso grinders'] },
  { name: 'billing', topics: ['unpaid invoices of October', 'the chargeback of Ines M.', 'currency rounding in the ledger'] },
  { name: 'ops', topics: ['the nightly stock sync', 'a failing carrier webhook', 'rotating the mail certificate'] },
]

/** The entries of one conversation. */
function conversation(topic: string, turns: number, began: number): Body[] {
  const out: Body[] = []
  let at = began
  const add = (kind: string, payload: Body): void => {
    at += 1_200 + ((out.length * 7_919) % 9_000)
    out.push({ kind, payload, at })
  }
  add('message', { role: 'system', content: 'You are the desk agent of Grindwell, a shop for coffee gear. Be brief and exact.' })
  for (let i = 0; i < turns; i++) {
    add('message', { role: 'user', content: i === 0 ? `This is about ${topic}. Can you look into it?` : ['And the second item?', 'When will that be?', 'Please go on.', 'Is that final?'][i % 4] })
    add('tool_call', { id: `call_${i}`, name: ['search_orders', 'read_policy', 'get_shipment', 'issue_refund'][i % 4], arguments: { query: topic, limit: 5, page: i } })
    add('tool_result', { id: `call_${i}`, result: { found: 1 + (i % 3), items: [{ order: `81-${2204 + i}`, state: 'shipped', total: 129.5 + i }] } })
    if (i % 5 === 4) add('event', { event: 'context_compacted', tokens_before: 18_220, tokens_after: 4_310 })
    add('message', { role: 'assistant', content: `I found ${1 + (i % 3)} matching order(s) for ${topic}. The parcel left the depot in Zaragoza; I have noted that the customer prefers a refund to a replacement.` })
  }
  return out
}

/** Fills a scope with agents, sessions, reviews, instances, timers and memories. Returns the ids of the agents. */
export async function seed(scope = 'default'): Promise<string[]> {
  const began = Date.now() - 5 * hourMs
  const agents: string[] = []
  for (const [d, desk] of desks.entries()) {
    for (const [t, topic] of desk.topics.entries()) {
      const agent = `${desk.name}/${topic.replace(/[^a-z0-9]+/gi, '-').toLowerCase().slice(0, 36).replace(/-$/, '')}`
      agents.push(agent)
      const entries = conversation(topic, 3 + ((d * 5 + t * 3) % 11), began + (d * 8 + t) * 700_000)
      await call('POST', `/v1/threads/${id(agent)}/entries`, { entries }, scope)
      for (let r = 1; r <= 3; r++) {
        await call('PUT', `/v1/checkpoints/${id(agent)}`, {
          state: { topic, step: r * 4, plan: ['find the order', 'check the policy', 'propose', 'act'].slice(0, r + 1), open: r < 3, budget: { tokens: 40_000 - r * 6_100, eur: 2.4 }, ...(r > 1 ? { customer: { name: 'Ines M.', tier: 'gold', since: 2021 } } : {}) },
          metadata: { desk: desk.name, model: 'm-large' }, lifecycle: ['completion', 'idle', 'interrupt', 'manual', 'error'][(d + t + r) % 5],
          thread: { id: agent, rev: Math.floor((entries.length * r) / 3) },
        }, scope)
      }
      for (const content of [`The customer of ${topic} prefers email.`, 'Refunds above 200 EUR need a person.']) {
        await call('POST', `/v1/memory/${id(agent)}`, { content, class: 'semantic', tags: [desk.name] }, scope)
      }
    }
  }
  await seedSessions(agents, scope)
  await seedInstances(scope)
  await seedPods(scope)
  await seedConversations(agents, scope)
  await seedFiles(scope)
  await seedScopes(scope)
  return agents
}

const outcomes = ['finished', 'waiting', 'running', 'finished', 'error', 'hibernated', 'cancelled', 'waiting', 'new', 'running', 'finished', 'waiting']

const questions: Body[] = [
  { operation: 'issue_refund', reason: 'The amount is above 200 EUR.', arguments: { order: '81-2204', amount: 249.9, currency: 'EUR', notify: true } },
  { operation: 'send_email', reason: 'The first mail to this customer.', arguments: { to: 'ines@example.com', subject: 'Your grinder', body: 'Dear Ines, we are sorry for the noise. A new burr set is on its way.' } },
  { operation: 'delete_records', reason: 'The tool is marked as dangerous.', arguments: { table: 'stock_sync', older_than_days: 30, dry_run: false } },
]

/** Writes sessions in each status, with the reviews that they wait for. */
async function seedSessions(agents: readonly string[], scope: string): Promise<void> {
  let asked = 0
  for (const [i, status] of outcomes.entries()) {
    const agent = agents[i % agents.length]!
    const session = `s-${String(i + 1).padStart(3, '0')}`
    await call('PUT', `/v1/sessions/${session}`, { agent_id: agent, thread: session, metadata: { channel: i % 2 ? 'chat' : 'email' } }, scope)
    if (status === 'new') continue
    const owner = `worker-${1 + (i % 3)}`
    const turned = await call<{ lease: { lease_id: string } }>('POST', `/v1/sessions/${session}/claim`, { owner_id: owner, ttl_ms: status === 'running' ? 900_000 : 60_000, request: { id: `${session}-r1`, input: { text: 'Please look into it.' } } }, scope)
    const lease = { owner_id: owner, lease_id: turned.lease.lease_id }
    const said = [
      [{ kind: 'message', payload: { role: 'user', content: 'Please look into it.' } }],
      [{ kind: 'message', payload: { role: 'assistant', content: 'I look for the order first.' } }, { kind: 'tool_call', payload: { name: 'search_orders', arguments: { query: '81-2204' } } }],
      [{ kind: 'tool_result', payload: { result: { found: 1, order: '81-2204', total: 249.9 } } }, { kind: 'message', payload: { role: 'assistant', content: 'One order matches; a refund of 249.90 EUR would be fair.' } }],
    ]
    for (const [n, phase] of ['start', 'after_prompt', 'before_effect'].entries()) {
      await call('POST', `/v1/threads/${session}/entries`, { entries: said[n] }, scope)
      await call('POST', `/v1/sessions/${session}/checkpoint`, { ...lease, snapshot: { snapshot_id: `${session}-snap-${n}`, cursor: { loop_index: n, phase }, turn_state: { step: n, messages: n * 2 } } }, scope)
    }
    if (status === 'running') continue
    const reviews = status === 'waiting' ? [{ ...questions[asked++ % questions.length], id: `review-${session}`, ttl_ms: 6 * hourMs, ...(i % 2 ? { assignee: 'ada' } : {}) }] : undefined
    await call('POST', `/v1/sessions/${session}/commit`, {
      ...lease, ...(reviews ? { reviews } : {}),
      session: { status, ...(status === 'finished' ? { result: { text: 'The refund is on its way.' } } : {}), ...(status === 'error' ? { error: { code: 'tool_failed', message: 'get_shipment: the carrier answered 502' } } : {}) },
    }, scope)
  }
  await call('POST', '/v1/reviews/review-s-012/decide', { by: 'ada', decision: 'deny', note: 'Ask the customer first.' }, scope)
}

/** Writes a manager with live instances and timers. */
async function seedInstances(scope: string): Promise<void> {
  await call('PUT', '/v1/managers/chats', { handler: { kind: 'document' }, idle_timeout_ms: 600_000, track: false }, scope)
  for (let i = 1; i <= 16; i++) {
    await call('POST', `/v1/managers/chats/instances/room-${i}/signals`, { type: 'append', data: { entries: [{ kind: 'message', payload: { role: 'user', content: `Hello from room ${i}` } }] } }, scope)
  }
  await call('PUT', '/v1/managers/chats/instances/room-1/timers/digest', { cron: '0 7 * * 1-5', time_zone: 'Europe/Berlin', type: 'append', data: { entries: [{ payload: { content: 'digest' } }] } }, scope)
  await call('PUT', '/v1/managers/chats/instances/room-2/timers/follow-up', { at: Date.now() + 2 * hourMs, type: 'append', data: { entries: [{ payload: { content: 'any news?' } }] } }, scope)
  await call('PUT', '/v1/managers/chats/instances/room-3/timers/broken', { at: Date.now(), type: 'append', data: { entries: 'no list' } }, scope)
}

/** Writes a pod that answers one customer, and one that has hibernated. */
async function seedPods(scope: string): Promise<void> {
  await call('PUT', '/v1/managers/desk', { handler: { kind: 'document' } }, scope)
  await call('PUT', '/v1/managers/teams', { handler: { kind: 'go', name: 'pod' } }, scope)
  const topology = {
    name: 'refund_desk', nodes: {
      lead: { manager: 'desk', activation: 'eager' }, reader: { manager: 'desk', activation: 'eager' }, orders: { manager: 'desk', activation: 'eager' },
      policy: { manager: 'desk' }, writer: { manager: 'desk' }, checker: { manager: 'desk' },
    },
    links: [['owns', 'lead', 'reader'], ['owns', 'lead', 'writer'], ['owns', 'lead', 'checker'], ['depends_on', 'reader', 'orders'], ['depends_on', 'writer', 'policy'], ['depends_on', 'checker', 'orders']],
  }
  await call('POST', '/v1/pods/teams/refund-81-2204', { topology }, scope)
  await call('POST', '/v1/pods/teams/refund-81-2205', { topology }, scope)
  await call('POST', '/v1/pods/teams/refund-81-2205/hibernate', {}, scope)
}

/** Writes, reads and signals until the signal is aborted, so that charts have something to show. */
export async function load(ended: AbortSignal, scope = 'default'): Promise<void> {
  const work = async (caller: number): Promise<void> => {
    for (let n = 0; !ended.aborted; n++) {
      const wave = 1 + Math.sin(Date.now() / 9_000)
      await call('PUT', `/v1/checkpoints/${id(`ops/heartbeat-${caller}`)}`, { state: { n } }, scope)
      await Promise.all([call('GET', `/v1/checkpoints/${id(`ops/heartbeat-${caller}`)}`, undefined, scope), call('GET', `/v1/threads?limit=5`, undefined, scope)])
      if (n % 3 === 0) await call('POST', `/v1/managers/chats/instances/room-${1 + (n % 16)}/signals`, { type: 'append', data: { entries: [{ payload: { content: `signal ${n}` } }] } }, scope)
      await sleep(20 + wave * 60)
    }
  }
  await Promise.all([1, 2, 3, 4].map(work))
}
