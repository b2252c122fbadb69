import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../api/client.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { PageFrame } from '../parts/page.js'
import { Search } from '../parts/search.js'
import { Empty } from '../parts/states.js'
import { PagedTable, usePages, type Column } from '../parts/table.js'
import { Ago } from '../parts/time.js'
import { LeaseLeft } from './session/lease.js'

type Row = Schemas['SessionRow']

const columns: Column<Row>[] = [
  { head: 'Session', width: 'minmax(0, 2fr)', cell: (s) => <a class="cover" href={href('session', { id: s.id })}>{s.id}</a> },
  { head: 'Status', width: '124px', cell: (s) => (s.recoverable ? <Badge text="to recover" tone="bad" /> : <Badge text={s.status} />) },
  { head: 'Agent', width: 'minmax(0, 3fr)', wide: true, cell: (s) => s.agent_id },
  { head: 'Owner', width: 'minmax(0, 1fr)', wide: true, cell: (s) => s.lease?.owner_id ?? <span class="faint">–</span> },
  { head: 'Lease', width: '96px', wide: true, cell: (s) => <LeaseLeft lease={s.lease} /> },
  { head: 'Turns', width: '64px', number: true, wide: true, cell: (s) => s.request_count },
  { head: 'Queued', width: '64px', number: true, wide: true, cell: (s) => (s.queue_length ? s.queue_length : <span class="faint">0</span>) },
  { head: 'Created', width: '96px', number: true, wide: true, cell: (s) => <Ago at={s.created_at} /> },
  { head: 'Updated', width: '96px', number: true, cell: (s) => <Ago at={s.updated_at} /> },
]

const statuses = ['new', 'running', 'waiting', 'hibernated', 'finished', 'error', 'cancelled']

/** The sessions of the scope: by status, owner and agent. */
export default function Sessions() {
  const { query, route } = useLocation()
  const filter = { prefix: query['prefix'] ?? '', status: query['status'] ?? '', owner: query['owner'] ?? '', agent_id: query['agent_id'] ?? '', recoverable: query['recoverable'] ?? '' }
  const pages = usePages((after, signal) => api.get('/v1/sessions', {
    signal, query: {
      limit: 500,
      ...(after ? { after } : {}), ...(filter.prefix ? { prefix: filter.prefix } : {}), ...(filter.status ? { status: filter.status } : {}),
      ...(filter.owner ? { owner: filter.owner } : {}), ...(filter.agent_id ? { agent_id: filter.agent_id } : {}), ...(filter.recoverable ? { recoverable: true } : {}),
    },
  }), [scope.value, filter])
  const set = (change: Partial<typeof filter>): void => route(href('sessions', { ...filter, ...change }), true)
  const filtered = Object.values(filter).some(Boolean)
  return (
    <PageFrame fill title="Sessions" about="A session answers requests, one turn at a time, under a lease." actions={
      <div class="filters">
        <label><span class="hidden">Status</span>
          <select value={filter.recoverable ? 'recoverable' : filter.status} onChange={(e) => {
            const v = e.currentTarget.value
            set(v === 'recoverable' ? { status: '', recoverable: 'true' } : { status: v, recoverable: '' })
          }}>
            <option value="">every status</option>
            <option value="recoverable">to recover</option>
            {statuses.map((s) => <option key={s} value={s}>{s}</option>)}
          </select>
        </label>
        <Search label="Sessions whose id begins with" value={filter.prefix} onValue={(prefix) => set({ prefix })} />
      </div>
    }>
      {(filter.owner || filter.agent_id) && <p class="note">{filter.owner && `Owner ${filter.owner}`} {filter.agent_id && `Agent ${filter.agent_id}`} <button type="button" class="quiet" onClick={() => set({ owner: '', agent_id: '' })}>Show all</button></p>}
      <PagedTable label="Sessions" columns={columns} pages={pages} keyOf={(s) => s.id} empty={filtered
        ? <Empty title="No session matches the filter" />
        : <Empty title="This scope has no sessions yet" command="dormctl sessions start s1 --agent assistant/1">A session appears here when a worker creates it:</Empty>} />
    </PageFrame>
  )
}
