import type { ComponentChildren } from 'preact'
import { api } from '../../api/client.js'
import { useCall, type Loaded } from '../../api/use.js'
import { href } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { Card, Facts } from '../../parts/page.js'
import { Shown } from '../../parts/states.js'
import { Ago } from '../../parts/time.js'
import { pages } from '../index.js'
import { instanceOf } from './instance.js'

const rowsMax = 20

/** The sessions, the memories, the instance and the timers of an agent. */
export function Related({ id }: { id: string }) {
  const ref = instanceOf(id)
  const sessions = useCall((signal) => api.get('/v1/sessions', { signal, query: { agent_id: id, limit: rowsMax } }), [id], 10_000)
  const memories = useCall((signal) => api.get('/v1/memory', { signal, query: { agent_id: id, limit: rowsMax } }), [id])
  return (
    <>
      {ref && <InstanceCard of={ref} />}
      <Rows title="Sessions" of={sessions} none="No session names this agent." items={(d) => d.items.map((s) => ({
        key: s.id, text: <Link page="session" query={{ id: s.id }} text={s.id} />, side: <><Badge text={s.status} /> <Ago at={s.updated_at} /></>,
      }))} />
      <Rows title="Memories" of={memories} none="This agent has no memories." items={(d) => d.items.map((m) => ({
        key: m.id, text: <span class="clip">{m.content}</span>, side: <Ago at={m.updated_at} />,
      }))} />
      {ref && <TimersCard of={ref} />}
    </>
  )
}

/** A link, unless the console has no such page. */
function Link({ page, query, text }: { page: string; query: Record<string, string>; text: string }) {
  return pages.some((p) => p.path === page) ? <a class="clip" href={href(page, query)}>{text}</a> : <span class="clip">{text}</span>
}

function InstanceCard({ of }: { of: { manager: string; key: string } }) {
  const found = useCall((signal) => api.get('/v1/managers/{manager}/instances/{key}', { signal, params: of }), [of.manager, of.key], 3_000)
  return (
    <Card title="Instance">
      <Shown of={found} rows={2}>{(i) => <Facts of={[
        ['Status', <Badge text={i.status} />], ['Manager', of.manager], ['Node', i.node || '–'], ['Partition', <span class="mono">{i.partition}</span>], ['Attached', i.attachments],
      ]} />}</Shown>
    </Card>
  )
}

function TimersCard({ of }: { of: { manager: string; key: string } }) {
  const found = useCall((signal) => api.get('/v1/managers/{manager}/instances/{key}/timers', { signal, params: of, query: { limit: rowsMax } }), [of.manager, of.key], 10_000)
  return <Rows title="Timers" of={found} none="No timer wakes this instance." items={(d) => d.items.map((t) => ({
    key: t.id, text: <span class="clip">{t.id} <span class="faint">{t.cron ?? ''}</span></span>, side: t.parked ? <Badge text="parked" tone="bad" /> : <Ago at={t.next} />,
  }))} />
}

interface Item {
  key: string
  text: ComponentChildren
  side: ComponentChildren
}

function Rows<T extends { items: readonly unknown[]; next: string | null }>({ title, of, none, items }: { title: string; of: Loaded<T>; none: string; items: (data: T) => Item[] }) {
  return (
    <Card title={title} side={of.data?.next ? <span class="faint">the first {rowsMax}</span> : null}>
      <Shown of={of} rows={2}>{(d) => (d.items.length === 0
        ? <p class="calm">{none}</p>
        : <ul class="items">{items(d).map((i) => <li key={i.key}>{i.text}<span class="side">{i.side}</span></li>)}</ul>)}
      </Shown>
    </Card>
  )
}
