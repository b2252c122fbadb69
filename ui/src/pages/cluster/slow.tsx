import { askAll } from '../../api/ask.js'
import type { Schemas } from '../../api/client.js'
import { nodes } from '../../api/nodes.js'
import { useCall } from '../../api/use.js'
import { Badge } from '../../parts/badge.js'
import { latency } from '../../parts/format.js'
import { Empty, Shown } from '../../parts/states.js'
import { PagedTable, type Column } from '../../parts/table.js'
import { Ago } from '../../parts/time.js'
import { Silent } from './silent.js'

type Row = Schemas['SlowCall'] & { node: string; number: number }

const parts = [['queue_us', 'waited for the entry before', 'q'], ['replicate_us', 'until a majority had it on disk', 'r'], ['apply_us', 'the state machine', 'a'], ['leader_us', 'until the leader answered', 'l']] as const

const columns: Column<Row>[] = [
  { head: 'Took', width: '72px', number: true, cell: (c) => <strong>{latency(c.took_us)}</strong> },
  { head: 'Call', width: 'minmax(0, 2fr)', cell: (c) => <>{c.call} <span class="faint">{c.first}{(c.ops ?? 0) > 1 && ` and ${c.ops! - 1} more`}{c.manager && ` ${c.manager}/${c.key ?? ''}`}</span></> },
  { head: 'Parts of the time', width: 'minmax(0, 2fr)', wide: true, cell: (c) => <Parts of={c} /> },
  { head: 'Scope', width: 'minmax(0, 1fr)', wide: true, cell: (c) => c.scope },
  { head: 'Node', width: '56px', wide: true, cell: (c) => c.node },
  { head: 'Outcome', width: '116px', wide: true, cell: (c) => (c.code ? <Badge text={c.code} tone="bad" /> : <Badge text="ok" tone="good" />) },
  { head: 'Ended', width: '84px', number: true, cell: (c) => <Ago at={c.at} /> },
]

/** The parts of a call's time as a bar. */
function Parts({ of }: { of: Row }) {
  const known = parts.filter(([name]) => (of[name] ?? 0) > 0)
  const text = known.map(([name, what]) => `${what}: ${latency(of[name]!)}`).join(', ')
  if (known.length === 0) return <span class="faint">–</span>
  return (
    <span class="parts" role="img" aria-label={text} title={text}>
      {known.map(([name, , tone]) => <span key={name} class={`part-${tone}`} style={{ width: `${Math.min(100, (100 * of[name]!) / of.took_us)}%` }} />)}
    </span>
  )
}

/** The last slow calls of all nodes, newest first. */
export function SlowCalls() {
  const found = useCall((signal) => askAll<Schemas['SlowCalls']>('/v1/cluster/slow-calls', signal), [nodes.value.length], 5_000)
  return (
    <Shown of={found}>{(all) => {
      const rows = all.flatMap((t) => (t.data?.calls ?? []).map((c, number) => ({ ...c, node: t.node, number }))).sort((a, b) => b.at - a.at)
      return (
        <>
          <p class="legend">{parts.map(([name, what, tone]) => <span key={name}><span class={`swatch part-${tone}`} /> <span class="faint">{what}</span></span>)}</p>
          <PagedTable label="Slow calls" columns={columns} pages={{ rows, more: false, loading: false, error: undefined, loadMore: () => undefined, reload: found.reload }} keyOf={(c) => `${c.node} ${c.at} ${c.number}`}
            empty={<Empty title="No call was slow">A call appears here if it takes at least as long as the setting <code>log.slow_call</code>.</Empty>} />
          <Silent of={all} />
        </>
      )
    }}</Shown>
  )
}
