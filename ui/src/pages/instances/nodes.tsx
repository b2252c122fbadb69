import type { Schemas } from '../../api/client.js'
import { full } from '../../parts/format.js'
import { Table, type Column } from '../../parts/table.js'

type Node = Schemas['NodeStats']

const count = (n: Node, of: 'awake' | 'attachments' | 'signals'): string => (n.error ? '–' : full(n[of]))
const broken = (n: Node): number => n.crashed + n.failed

const columns: Column<Node>[] = [
  { head: 'Node', width: 'minmax(60px, 1fr)', cell: (n) => <><strong>{n.node}</strong>{n.error && <span class="bad-text" title={n.error}> no answer</span>}</> },
  { head: 'Awake', width: '56px', number: true, cell: (n) => <span title={`${n.waking} waking, ${n.draining} draining`}>{count(n, 'awake')}</span> },
  { head: 'Attached', width: '62px', number: true, cell: (n) => count(n, 'attachments') },
  { head: 'Signals', width: '62px', number: true, wide: true, cell: (n) => count(n, 'signals') },
  { head: 'Failed', width: '50px', number: true, cell: (n) => <span class={broken(n) ? 'bad-text' : 'faint'} title={`${n.crashed} handlers crashed, ${n.failed} hibernations failed since the node started`}>{full(broken(n))}</span> },
]

/** The counts of a manager's instances, node by node. */
export function ByNode({ nodes }: { nodes: readonly Node[] }) {
  return <Table label="Instances by node" columns={columns} rows={nodes} keyOf={(n) => n.node} />
}
