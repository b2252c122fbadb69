import { api, type Schemas } from '../../api/client.js'
import { href, scope } from '../../app/address.js'
import { bytes, full, quoted } from '../../parts/format.js'
import { Empty } from '../../parts/states.js'
import { PagedTable, usePages, type Column } from '../../parts/table.js'
import { Ago } from '../../parts/time.js'
import { instanceOf, storedPrefix } from '../agent/instance.js'

type Row = Schemas['CheckpointRow']

const columns: Column<Row>[] = [
  { head: 'Instance', width: 'minmax(0, 3fr)', cell: (r) => <a class="cover" href={href('instance', instanceOf(r.key) ?? {})}>{instanceOf(r.key)?.key ?? r.key}</a> },
  { head: 'Revision', width: '86px', number: true, wide: true, cell: (r) => full(r.revision) },
  { head: 'Size', width: '84px', number: true, wide: true, cell: (r) => bytes(r.bytes) },
  { head: 'Stored', width: '96px', number: true, cell: (r) => <Ago at={r.updated_at} /> },
]

/** The instances of a manager that are stored, awake or dormant. */
export function Stored({ manager, prefix }: { manager: string; prefix: string }) {
  const pages = usePages((after, signal) => api.get('/v1/checkpoints', { signal, query: { limit: 500, prefix: storedPrefix(manager) + prefix, ...(after ? { after } : {}) } }), [scope.value, manager, prefix])
  return (
    <PagedTable label="Stored instances" columns={columns} pages={pages} keyOf={(r) => r.key} empty={prefix
      ? <Empty title={`No stored instance's key begins with “${prefix}”`} />
      : <Empty title={`No instance of ${manager} is stored`} command={`dormctl instances signal ${quoted(manager)} KEY get`}>An instance is stored with its first signal that changes something.</Empty>} />
  )
}
