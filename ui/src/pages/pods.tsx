import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../api/client.js'
import { may } from '../api/session.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { Action, jsonOf } from '../parts/dialog.js'
import { full, quoted } from '../parts/format.js'
import { PageFrame } from '../parts/page.js'
import { Search } from '../parts/search.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { PagedTable, usePages, type Column } from '../parts/table.js'
import { Ago } from '../parts/time.js'
import { instanceOf, storedPrefix } from './agent/instance.js'

type Row = Schemas['CheckpointRow']

const managersMax = 200

const columns: Column<Row>[] = [
  { head: 'Pod', width: 'minmax(0, 3fr)', cell: (r) => <a class="cover" href={href('pod', instanceOf(r.key) ?? {})}>{instanceOf(r.key)?.key ?? r.key}</a> },
  { head: 'Revision', width: '86px', number: true, wide: true, cell: (r) => full(r.revision) },
  { head: 'Stored', width: '96px', number: true, cell: (r) => <Ago at={r.updated_at} /> },
]

const example = JSON.stringify({ name: 'team', nodes: { boss: { manager: 'chats', activation: 'eager' }, clerk: { manager: 'chats' } }, links: [['owns', 'boss', 'clerk']] }, null, 2)

/** The pods of a manager whose handler makes pods. */
export default function Pods() {
  const { query, route } = useLocation()
  const managers = useCall(async (signal) => (await api.get('/v1/managers', { signal, query: { limit: managersMax } })).items.filter((m) => m.handler.kind === 'go' && m.handler.name === 'pod'), [scope.value], 10_000)
  const manager = query['manager'] || managers.data?.[0]?.name || ''
  const prefix = query['prefix'] ?? ''
  const about = 'A pod is an instance that starts, stops and changes other instances, its nodes.'
  if (!managers.data) return <PageFrame title="Pods" about={about}>{managers.error ? <Problem error={managers.error} retry={managers.reload} /> : <Loading />}</PageFrame>
  if (!manager) return <PageFrame title="Pods" about={about}><Empty title="This scope has no managers of pods" command="dormctl managers put teams --handler go:pod">A manager with the handler go:pod keeps pods:</Empty></PageFrame>
  return (
    <PageFrame fill title="Pods" about={about} actions={
      <div class="filters">
        <label><span class="hidden">Manager</span>
          <select value={manager} onChange={(e) => route(href('pods', { manager: e.currentTarget.value }))}>{managers.data.map((m) => <option key={m.name} value={m.name}>{m.name}</option>)}</select>
        </label>
        <Search label="Pods whose key begins with" value={prefix} onValue={(v) => route(href('pods', { manager, prefix: v }), true)} />
        {may('run') && may('write') && (
          <Action label="New pod" title={`Make a pod of ${manager}`} fields={[
            { name: 'key', label: 'Key' },
            { name: 'topology', label: 'Topology', lines: 9, optional: true, hint: 'JSON. Without one, the pod takes the topology of its manager’s metadata', examples: { 'A boss with a clerk': example } },
          ]} run={async (v) => {
            const topology = jsonOf<Record<string, unknown>>('Topology', v['topology'])
            await api.post('/v1/pods/{manager}/{key}', { params: { manager, key: v['key']! }, body: topology ? { topology } : {} })
            route(href('pod', { manager, key: v['key'] }))
          }}>
            <p>If a pod of this key exists, it keeps its topology. Its eager nodes start.</p>
          </Action>
        )}
      </div>
    }>
      <List manager={manager} prefix={prefix} />
    </PageFrame>
  )
}

function List({ manager, prefix }: { manager: string; prefix: string }) {
  const pages = usePages((after, signal) => api.get('/v1/checkpoints', { signal, query: { limit: 500, prefix: storedPrefix(manager) + prefix, ...(after ? { after } : {}) } }), [scope.value, manager, prefix])
  return (
    <PagedTable label="Pods" columns={columns} pages={pages} keyOf={(r) => r.key} empty={prefix
      ? <Empty title={`No pod's key begins with “${prefix}”`} />
      : <Empty title={`No pod of ${manager} is stored`} command={`dormctl pods start ${quoted(manager)} t1 --topology @topology.json`}>Make one with a topology:</Empty>} />
  )
}
