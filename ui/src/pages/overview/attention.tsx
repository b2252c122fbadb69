import type { ComponentChildren } from 'preact'
import { api } from '../../api/client.js'
import { may } from '../../api/session.js'
import { useCall } from '../../api/use.js'
import { href, scope } from '../../app/address.js'
import { Card } from '../../parts/page.js'
import { Shown } from '../../parts/states.js'
import { Ago } from '../../parts/time.js'
import { pages } from '../index.js'

const rowsMax = 100

/** Something that needs a person. */
interface Matter {
  tone: 'warn' | 'bad'
  text: string
  page: string
  query?: Record<string, string>
  about?: ComponentChildren
}

const count = (n: number): string => (n >= rowsMax ? `${rowsMax}+` : String(n))

async function matters(signal: AbortSignal): Promise<Matter[]> {
  const all = await Promise.all([may('read') ? ofScope(signal) : [], may('cluster:read') ? ofCluster(signal) : []])
  return all.flat()
}

/** What waits in the present scope. */
async function ofScope(signal: AbortSignal): Promise<Matter[]> {
  const [reviews, sessions, managers] = await Promise.all([
    api.get('/v1/reviews', { signal, query: { status: 'pending', limit: rowsMax } }),
    api.get('/v1/sessions', { signal, query: { recoverable: true, limit: rowsMax } }),
    api.get('/v1/managers', { signal, query: { limit: 20 } }),
  ])
  const out: Matter[] = []
  const oldest = Math.min(...reviews.items.map((r) => r.created_at))
  if (reviews.items.length) out.push({ tone: 'warn', text: `${count(reviews.items.length)} pending review${reviews.items.length === 1 ? '' : 's'}`, page: 'reviews', about: <>the oldest <Ago at={oldest} /></> })
  if (sessions.items.length) out.push({ tone: 'bad', text: `${count(sessions.items.length)} session${sessions.items.length === 1 ? '' : 's'} to recover`, page: 'sessions', query: { recoverable: 'true' }, about: 'their leases have expired' })
  const timers = await Promise.all(managers.items.map((m) => api.get('/v1/managers/{manager}/timers', { signal, params: { manager: m.name }, query: { limit: 1000 } })))
  const rows = timers.flatMap((t) => t.items)
  const parked = rows.filter((t) => t.parked)
  const failing = rows.filter((t) => !t.parked && t.attempts)
  if (parked.length) out.push({ tone: 'bad', text: `${count(parked.length)} parked timer${parked.length === 1 ? '' : 's'}`, page: 'timers', about: parked[0]!.last_error })
  if (failing.length) out.push({ tone: 'warn', text: `${count(failing.length)} failing timer${failing.length === 1 ? '' : 's'}`, page: 'timers', about: failing[0]!.last_error })
  return out
}

/** What is wrong with handlers and moves, over all scopes. */
async function ofCluster(signal: AbortSignal): Promise<Matter[]> {
  const [stats, placement] = await Promise.all([api.get('/v1/cluster/instances', { signal }), api.get('/v1/placement', { signal })])
  const out: Matter[] = []
  for (const n of stats.nodes) {
    if (n.crashed) out.push({ tone: 'bad', text: `${n.crashed} handler${n.crashed === 1 ? '' : 's'} crashed on ${n.node}`, page: 'instances', about: 'since it started' })
    if (n.failed) out.push({ tone: 'bad', text: `${n.failed} hibernation${n.failed === 1 ? '' : 's'} failed on ${n.node}`, page: 'instances', about: 'since it started' })
  }
  const draining = placement.moving.length
  if (draining) out.push({ tone: 'warn', text: `${draining} partition${draining === 1 ? '' : 's'} draining`, page: 'placement', about: placement.moving[0]!.why })
  if (placement.free) out.push({ tone: 'bad', text: `${placement.free} partition${placement.free === 1 ? '' : 's'} without an owner`, page: 'placement' })
  return out
}

/** What needs a person: reviews, sessions, timers, handlers and moves. */
export function Attention() {
  const found = useCall(matters, [scope.value], 10_000)
  return (
    <Card title="Needs a person" side={<span class="faint">in scope {scope.value}</span>}>
      <Shown of={found} rows={2}>{(all) => (all.length === 0
        ? <p class="calm">Nothing needs you now: no pending reviews, no failed timers, no crashed handlers.</p>
        : <ul class="matters">{all.map((m) => <li key={m.text}><span class={`dot ${m.tone}`} /> <To matter={m} /> {m.about && <span class="faint">{m.about}</span>}</li>)}</ul>)}
      </Shown>
    </Card>
  )
}

/** Links to the page of a matter, if the console has it. */
function To({ matter }: { matter: Matter }) {
  if (!pages.some((p) => p.path === matter.page)) return <strong>{matter.text}</strong>
  return <a href={href(matter.page, matter.query)}>{matter.text}</a>
}
