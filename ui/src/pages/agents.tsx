import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../api/client.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { bytes, full } from '../parts/format.js'
import { PageFrame } from '../parts/page.js'
import { Search } from '../parts/search.js'
import { Empty } from '../parts/states.js'
import { PagedTable, usePages, type Column } from '../parts/table.js'
import { Ago } from '../parts/time.js'

type Row = Schemas['CheckpointRow']

const columns: Column<Row>[] = [
  { head: 'Agent', width: 'minmax(0, 3fr)', cell: (r) => <a class="cover" href={href('agent', { id: r.key })}>{r.key}</a> },
  { head: 'Saved on', width: '110px', wide: true, cell: (r) => (r.lifecycle ? <Badge text={r.lifecycle} /> : <span class="faint">–</span>) },
  { head: 'Revision', width: '86px', number: true, wide: true, cell: (r) => full(r.revision) },
  { head: 'Thread', width: 'minmax(0, 2fr)', wide: true, cell: (r) => (r.thread ? <a class="faint over" href={href('thread', { id: r.thread.id })}><bdi>{r.thread.id}</bdi><span class="mono">@{r.thread.rev}</span></a> : <span class="faint">–</span>) },
  { head: 'Size', width: '84px', number: true, wide: true, cell: (r) => bytes(r.bytes) },
  { head: 'Updated', width: '96px', number: true, cell: (r) => <Ago at={r.updated_at} /> },
]

/** The agents of the scope, by the prefix of their ids. */
export default function Agents() {
  const { query, route } = useLocation()
  const prefix = query['prefix'] ?? ''
  const pages = usePages((after, signal) => api.get('/v1/checkpoints', { signal, query: { limit: 500, ...(prefix ? { prefix } : {}), ...(after ? { after } : {}) } }), [scope.value, prefix])
  return (
    <PageFrame fill title="Agents" about="An agent is a checkpoint, with the thread, the sessions and the memories that belong to it."
      actions={<Search label="Agents whose id begins with" value={prefix} onValue={(v) => route(href('agents', { prefix: v }), true)} />}>
      <PagedTable label="Agents" columns={columns} pages={pages} keyOf={(r) => r.key} empty={prefix
        ? <Empty title={`No agent's id begins with “${prefix}”`} />
        : <Empty title="This scope has no agents yet" command={`dormctl checkpoints put assistant/1 '{"mood":"curious"}'`}>An agent appears here with its first checkpoint:</Empty>} />
    </PageFrame>
  )
}
