import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { api, watch, type Schemas } from '../../api/client.js'
import { useCall, useWork } from '../../api/use.js'
import { href, scope } from '../../app/address.js'
import { quoted } from '../../parts/format.js'
import { Badge } from '../../parts/badge.js'
import { Empty } from '../../parts/states.js'
import { useNarrow } from '../../parts/table.js'
import { Virtual } from '../../parts/virtual.js'
import { IdleLeft } from './idle.js'

/** How often a row in view asks for its instance, and the most keys that a node names. */
const everyMs = 5_000
const keysMax = 1000

const wide = 'minmax(0, 3fr) 64px 92px 72px 64px 84px'
const narrow = 'minmax(0, 2fr) 40px 88px'

/** The awake instances of a manager by key. Each row in view shows what the owner says of its instance. */
export function Awake({ manager, stats, prefix }: { manager: string; stats: Schemas['ManagerStats']; prefix: string }) {
  const rows = useMemo(() => stats.nodes.flatMap((n) => (n.keys ?? []).map((key) => ({ key, node: n.node }))).filter((r) => r.key.startsWith(prefix)).sort((a, b) => (a.key < b.key ? -1 : 1)), [stats, prefix])
  const changes = useChanges(manager)
  const isNarrow = useNarrow()
  const cut = stats.nodes.filter((n) => (n.keys?.length ?? 0) >= keysMax).map((n) => n.node)
  if (rows.length === 0) {
    return prefix
      ? <Empty title={`No awake instance's key begins with “${prefix}”`}>Show all that are stored to see those that are dormant.</Empty>
      : <Empty title={`No instance of ${manager} is awake`} command={`dormctl instances start ${quoted(manager)} KEY`}>A call or a signal wakes one:</Empty>
  }
  const template = isNarrow ? narrow : wide
  return (
    <div class="table paged">
      <div class="paged-rows" role="table" aria-label="Awake instances" aria-rowcount={rows.length + 1}>
        <div role="rowgroup" class="table-head">
          <div role="row" class="row" style={{ gridTemplateColumns: template }}>
            {['Instance', 'Node', 'Status', ...(isNarrow ? [] : ['Attached', 'Mailbox', 'Idle in'])].map((head, i) => <div key={head} role="columnheader" class={i > 2 ? 'cell number' : 'cell'}>{head}</div>)}
          </div>
        </div>
        <Virtual count={rows.length} rowHeight={36} label="Awake instances" role="rowgroup" row={(i, style) => {
          const { key, node } = rows[i]!
          return (
            <div key={key} role="row" aria-rowindex={i + 2} class="row drawn" style={{ ...style, gridTemplateColumns: template }}>
              <Row manager={manager} name={key} node={node} narrow={isNarrow} changed={changes[key] ?? 0} />
            </div>
          )
        }} />
      </div>
      <div class="table-foot" role="status">{rows.length.toLocaleString('en')} awake{cut.length > 0 && `; ${cut.join(', ')} ${cut.length === 1 ? 'names' : 'name'} only the first ${keysMax.toLocaleString('en')}`}</div>
    </div>
  )
}

const keptMax = 10_000

/** Counts the changes of each instance since the page opened, from the manager's watch. */
function useChanges(manager: string): Record<string, number> {
  const [counts, setCounts] = useState<Record<string, number>>({})
  useWork(async (signal) => {
    for await (const event of watch<Schemas['InstanceChange']>('/v1/managers/{manager}/watch', { signal, params: { manager } })) {
      if (event.kind !== 'instance') continue
      const { key } = event.data
      setCounts((c) => (Object.keys(c).length > keptMax ? { [key]: 1 } : { ...c, [key]: (c[key] ?? 0) + 1 }))
    }
  }, [scope.value, manager])
  return counts
}

function Row({ manager, name, node, narrow: isNarrow, changed }: { manager: string; name: string; node: string; narrow: boolean; changed: number }) {
  const found = useCall((signal) => api.get('/v1/managers/{manager}/instances/{key}', { signal, params: { manager, key: name } }), [scope.value, manager, name, changed], everyMs)
  const i = found.data
  const cell = (content: ComponentChildren, number = false): ComponentChildren => <div role="cell" class={number ? 'cell number' : 'cell'}>{content}</div>
  const none = <span class="faint">…</span>
  return (
    <>
      {cell(<a class="cover" href={href('instance', { manager, key: name })}>{name}</a>)}
      {cell(i?.node ?? node)}
      {cell(<Badge text={i?.status ?? 'awake'} />)}
      {!isNarrow && cell(i ? i.attachments || <span class="faint">0</span> : none, true)}
      {!isNarrow && cell(i ? i.mailbox || <span class="faint">0</span> : none, true)}
      {!isNarrow && cell(i ? <IdleLeft of={i} /> : none, true)}
    </>
  )
}
