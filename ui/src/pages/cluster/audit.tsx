import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import { href } from '../../app/address.js'
import { nodes } from '../../api/nodes.js'
import { Badge } from '../../parts/badge.js'
import { Json } from '../../parts/json.js'
import { Card } from '../../parts/page.js'
import { Empty } from '../../parts/states.js'
import { PagedTable, usePages, type Column } from '../../parts/table.js'
import { Clock } from '../../parts/time.js'
import { NodePick } from './nodepick.js'
import { kinds, readRecords, type AuditRecord } from './records.js'

/** The audit log of one node, newest first. */
export function Audit() {
  const { query, route } = useLocation()
  const filter = { node: query['node'] ?? '', kind: query['kind'] ?? '' }
  const [selected, setSelected] = useState<AuditRecord | undefined>()
  const pages = usePages<AuditRecord>(async (after, signal) => {
    const found = await readRecords(filter.node, filter.kind, Number(after ?? 0), signal)
    return { items: found.records, next: found.next === undefined ? null : String(found.next) }
  }, [filter, nodes.value.length])
  const set = (change: Partial<typeof filter>): void => {
    setSelected(undefined)
    route(href('cluster', { tab: 'audit', ...filter, ...change }), true)
  }
  return (
    <>
      <div class="filters">
        <NodePick value={filter.node} onValue={(node) => set({ node })} />
        <label><span class="hidden">Kind</span>
          <select value={filter.kind} onChange={(e) => set({ kind: e.currentTarget.value })}>
            <option value="">every kind</option>
            {kinds.map((k) => <option key={k} value={k}>{k}</option>)}
          </select>
        </label>
        <button type="button" onClick={pages.reload}>Reload</button>
        <span class="faint">Each node records the calls that it served. <code>dormctl audit verify</code> checks the hash chain.</span>
      </div>
      <div class={selected ? 'split' : 'split one'}>
        <PagedTable label="Audit log" columns={columnsFor(setSelected)} pages={pages} keyOf={(r) => String(r.seq)} empty={<Empty title={filter.kind ? `The log has no record of kind ${filter.kind}` : 'The log is empty'} />} />
        {selected && <div class="aside"><Card title={`Record ${selected.seq}`} side={<button type="button" onClick={() => setSelected(undefined)}>Close</button>}><Json value={selected} label="Record" /></Card></div>}
      </div>
    </>
  )
}

const columnsFor = (select: (r: AuditRecord) => void): Column<AuditRecord>[] => [
  { head: 'Seq', width: '64px', number: true, cell: (r) => <button type="button" class="link cover" aria-label={`Record ${r.seq}`} onClick={() => select(r)}>{r.seq}</button> },
  { head: 'Time', width: '108px', wide: true, cell: (r) => <Clock at={Date.parse(r.time)} /> },
  { head: 'Kind', width: '92px', cell: (r) => <Badge text={r.kind} tone={r.kind === 'denial' || r.kind === 'gap' ? 'bad' : 'plain'} /> },
  { head: 'What', width: 'minmax(0, 2fr)', cell: (r) => <><span>{r.action ?? r.detail ?? ''}</span> <span class="faint">{(r.object ?? (r.action && r.detail ? [r.detail] : [])).join(' ')}</span></> },
  { head: 'Principal', width: 'minmax(0, 1fr)', wide: true, cell: (r) => r.principal ?? <span class="faint">{r.address ?? '–'}</span> },
  { head: 'Scope', width: 'minmax(0, 1fr)', wide: true, cell: (r) => r.scope ?? <span class="faint">–</span> },
  { head: 'Outcome', width: '128px', wide: true, cell: (r) => (r.phase === 'begin' ? <span class="faint">begins</span> : r.outcome === 'ok' ? <Badge text="ok" tone="good" /> : r.outcome ? <Badge text={r.outcome} tone="bad" /> : <span class="faint">–</span>) },
]
