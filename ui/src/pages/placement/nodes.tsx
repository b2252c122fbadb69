import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { Badge } from '../../parts/badge.js'
import { Action } from '../../parts/dialog.js'
import { full, plural } from '../../parts/format.js'
import { Card } from '../../parts/page.js'
import { Table, type Column } from '../../parts/table.js'
import { Ago } from '../../parts/time.js'

type Node = Schemas['PlacementShares']['nodes'][number]

/** The share of each member, and whether it is drained. done is called after a change. */
export function Shares({ shares, done }: { shares: Schemas['PlacementShares']; done: () => void }) {
  const columns: Column<Node>[] = [
    { head: 'Node', width: 'minmax(44px, 1fr)', cell: (n) => <><strong>{n.node}</strong>{n.host && <span class="faint"> host</span>}</> },
    { head: 'Partitions', width: '72px', number: true, cell: (n) => full(n.owned) },
    { head: 'State', width: 'minmax(96px, 2fr)', cell: (n) => <State node={n} /> },
  ]
  if (may('cluster:change')) columns.push({ head: 'Actions', width: '76px', number: true, cell: (n) => <Actions node={n} done={done} /> })
  return (
    <Card flush title="Nodes">
      <div class="shares">
        <Table label="Shares" columns={columns} rows={shares.nodes} keyOf={(n) => n.node} />
      </div>
    </Card>
  )
}

function State({ node }: { node: Node }) {
  if (node.drained_at && node.owned > 0) return <><Badge text="draining" tone="warn" /> <span class="faint">{plural(node.owned, 'partition')} left</span></>
  if (node.drained_at) return <><Badge text="drained" tone="warn" /> <span class="faint"><Ago at={node.drained_at} /></span></>
  if (!node.leased) return <Badge text="no lease" tone="bad" />
  const moves = [node.coming ? `${full(node.coming)} coming` : '', node.draining ? `${full(node.draining)} leaving` : ''].filter(Boolean)
  return moves.length > 0 ? <span class="faint">{moves.join(' · ')}</span> : <Badge text="in use" tone="good" />
}

function Actions({ node, done }: { node: Node; done: () => void }) {
  return (
    <div class="row-actions">
      {node.drained_at
        ? <Action label="Resume" title={`Resume ${node.node}`} run={() => api.post('/v1/cluster/resume', { body: { node: node.node } })} done={done}>
            <p>{node.node} gets its share of the partitions again.</p>
          </Action>
        : <Action label="Drain" title={`Drain ${node.node}`} typed={node.node} run={() => api.post('/v1/cluster/drain', { body: { node: node.node } })} done={done}>
            <p>All partitions of {node.node} move to other nodes, and it gets none until it is resumed. It stays a member{node.host ? '' : ' and keeps its vote'}. Pins to it are removed.</p>
          </Action>}
    </div>
  )
}
