import assert from 'node:assert/strict'
import { deflateSync, crc32 } from 'node:zlib'
import { nodes, token } from './browser.js'
import { call } from './seed.js'

type Body = Record<string, unknown>
const id = encodeURIComponent

/** What one customer and one agent say to each other. */
const script = (i: number): Body[] => [
  { role: 'system', content: { text: 'The chat began on the page of an order.' }, synthetic: true },
  { role: 'user', content: { text: `Hello, my grinder of order 81-${2204 + i} rattles since yesterday.` } },
  { role: 'assistant', type: 'tool_call', tool_call: 'call_1', status: 'completed', content: { name: 'search_orders', arguments: { order: `81-${2204 + i}`, limit: 1 } } },
  { role: 'tool', type: 'tool_result', tool_call: 'call_1', status: 'completed', content: { found: 1, total: 129.5, state: 'delivered', warranty_until: '2027-03-01' } },
  { role: 'assistant', content: { text: 'I am sorry about that. The grinder is under warranty until March 2027.\n\nTwo ways are open:\n  1. a new burr set, in three days\n  2. a refund of 129.50 EUR' } },
  { role: 'user', content: { text: 'The refund, please.' } },
  { role: 'assistant', type: 'tool_call', tool_call: 'call_2', status: i % 3 === 0 ? 'interrupted' : 'failed', content: { name: 'issue_refund', arguments: { order: `81-${2204 + i}`, amount: 129.5, currency: 'EUR' } } },
]

/** Writes conversations: some interrupted, one with a message that waits. */
export async function seedConversations(agents: readonly string[], scope: string): Promise<void> {
  const before = await call<{ items: unknown[] }>('GET', '/v1/conversations?prefix=chat-&limit=1', undefined, scope)
  if (before.items.length > 0) return // another file of tests has written them
  for (let i = 0; i < 6; i++) {
    const conversation = `chat-${i + 1}`
    const owner = { agent_id: agents[i]!, owner_id: ['ines', 'milan', 'ada'][i % 3]! }
    await call('POST', `/v1/conversations/${conversation}/messages`, { ...owner, messages: script(i).map((m, n) => ({ ...('tool_call' in m ? {} : { id: `m${n}` }), ...m })) }, scope)
    await call('PUT', `/v1/conversations/${conversation}`, { ...owner, lifecycle: i % 3 === 0 ? 'interrupt' : 'completion', title: ['A rattling grinder', 'Where is my parcel?', 'An invoice without VAT'][i % 3], state: { version: 1, state: { step: 3, waits_for: 'approval', messages: script(i).length } } }, scope)
    if (i % 3 === 0) await call('POST', `/v1/conversations/${conversation}/interrupted`, { ...owner, interrupted: true }, scope)
    if (i === 0) await call('POST', `/v1/conversations/${conversation}/pending`, { ...owner, message: { role: 'user', content: 'Is the refund on its way?' } }, scope)
  }
}

/** Writes a file, byte for byte. */
export async function put(path: string, type: string, content: string | Uint8Array, scope: string): Promise<void> {
  const response = await fetch(`${nodes[0]!}/v1/files/${id(path)}`, {
    method: 'PUT', headers: { 'Content-Type': type, 'Dormouse-Scope': scope, ...(token ? { Authorization: `Bearer ${token}` } : {}) }, body: content as BodyInit,
  })
  assert.ok(response.ok, `${path}: ${response.status} ${response.ok ? '' : await response.text()}`)
}

/** Writes files of several kinds, in folders. */
export async function seedFiles(scope: string): Promise<void> {
  await put('/reports/2026/october.md', 'text/markdown', '# October\n\n- 412 orders, 18 refunds\n- the burr set B2 fails twice as often as B1\n\nNext: ask the supplier for a new batch.\n', scope)
  await put('/reports/2026/sales.png', 'image/png', chart(640, 320), scope)
  await put('/reports/2025/summary.json', 'application/json', JSON.stringify({ orders: 4012, refunds: 171, by_desk: { support: 120, billing: 51 } }), scope)
  await put('/logo.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120" width="240" height="240"><script>parent.document.title = "ran"</script><circle cx="60" cy="60" r="52" fill="#a8551f"/><circle cx="60" cy="60" r="26" fill="#fbfaf8"/></svg>', scope)
  await put('/notes/policy.txt', 'text/plain', 'Refunds above 200 EUR need a person.\n', scope)
  await put('/notes/page.html', 'text/html', '<script>document.title = "ran"</script>', scope)
  await put('/exports/orders.bin', 'application/octet-stream', new Uint8Array([0, 1, 2, 250, 0, 9]), scope)
  await Promise.all(Array.from({ length: 12 }, (_, i) => put(`/exports/days/day-${String(i + 1).padStart(2, '0')}.csv`, 'text/csv', 'order,total\n81-2204,129.5\n', scope)))
}

/** Gives the scope quotas, so that its use has a measure. */
export async function seedScopes(scope: string): Promise<void> {
  await call('PUT', `/v1/scopes/${id(scope)}`, { keys_max: 200_000, bytes_max: 1 << 30, agents_max: 120, entries_max: 5_000_000, requests_per_second: 100_000 })
}

/** Returns a picture of bars as PNG. */
function chart(width: number, height: number): Uint8Array {
  const rows: number[] = []
  for (let y = 0; y < height; y++) {
    rows.push(0)
    for (let x = 0; x < width; x++) {
      const bar = Math.floor(x / 54)
      const tall = 40 + ((bar * 67) % 220)
      const filled = x % 54 > 12 && x % 54 < 50 && height - y < tall + 20 && y < height - 20
      rows.push(...(filled ? [168 - bar * 4, 85 + bar * 6, 31 + bar * 9] : y === height - 20 ? [113, 106, 97] : [251, 250, 248]))
    }
  }
  const part = (name: string, body: Uint8Array): Uint8Array => {
    const typed = Buffer.concat([Buffer.from(name, 'latin1'), body])
    const length = Buffer.alloc(4)
    length.writeUInt32BE(body.length)
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(typed))
    return Buffer.concat([length, typed, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), part('IHDR', head), part('IDAT', deflateSync(Buffer.from(rows))), part('IEND', Buffer.alloc(0))])
}
