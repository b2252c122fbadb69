import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../api/client.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { full, plural } from '../parts/format.js'
import { Card, PageFrame } from '../parts/page.js'
import { Search } from '../parts/search.js'
import { Empty, Loading, Problem, Shown } from '../parts/states.js'
import { Awake } from './instances/awake.js'
import { ManagerSettings } from './instances/manager.js'
import { ByNode } from './instances/nodes.js'
import { Stored } from './instances/stored.js'

const managersMax = 200

/** The instances of a manager: those that are awake with their node, or all that are stored. */
export default function Instances() {
  const { query, route } = useLocation()
  const managers = useCall((signal) => api.get('/v1/managers', { signal, query: { limit: managersMax } }), [scope.value], 10_000)
  const manager = query['manager'] || managers.data?.items[0]?.name || ''
  const prefix = query['prefix'] ?? ''
  const stored = query['show'] === 'stored'
  const stats = useCall((signal) => (manager ? api.get('/v1/managers/{manager}/stats', { signal, params: { manager } }) : Promise.resolve(undefined)), [scope.value, manager], 2_000)
  const set = (change: Record<string, string>): void => route(href('instances', { manager, prefix, show: stored ? 'stored' : '', ...change }), true)
  if (!managers.data) return <PageFrame title="Instances">{managers.error ? <Problem error={managers.error} retry={managers.reload} /> : <Loading />}</PageFrame>
  if (!manager) {
    return (
      <PageFrame title="Instances" about="An instance is an agent that is awake on one node at a time. A manager says how its instances are kept.">
        <Empty title="This scope has no managers yet" command="dormctl managers put chats --handler document --idle-timeout 10m">Set a manager, then signal one of its instances:</Empty>
      </PageFrame>
    )
  }
  const found = managers.data.items.find((m) => m.name === manager)
  const nodes = stats.data?.nodes ?? []
  const total = (of: 'awake' | 'attachments'): number => nodes.reduce((n, node) => n + node[of], 0)
  return (
    <PageFrame fill title="Instances" about={stats.data
      ? <>{full(total('awake'))} awake on {plural(nodes.filter((n) => n.awake > 0).length, 'node')}, {plural(total('attachments'), 'attachment')}</>
      : 'An instance is an agent that is awake on one node at a time.'} actions={
      <div class="filters">
        <label><span class="hidden">Manager</span>
          <select value={manager} onChange={(e) => route(href('instances', { manager: e.currentTarget.value, show: stored ? 'stored' : '' }))}>
            {(found ? managers.data.items : [{ name: manager }, ...managers.data.items]).map((m) => <option key={m.name} value={m.name}>{m.name}</option>)}
          </select>
        </label>
        <label><span class="hidden">Show</span>
          <select value={stored ? 'stored' : ''} onChange={(e) => set({ show: e.currentTarget.value })}>
            <option value="">awake</option>
            <option value="stored">all that are stored</option>
          </select>
        </label>
        <Search label="Instances whose key begins with" value={prefix} onValue={(v) => set({ prefix: v })} />
      </div>
    }>
      <div class="split">
        <section class="card flush timeline" aria-label={stored ? 'Stored instances' : 'Awake instances'}>
          {stored
            ? <Stored manager={manager} prefix={prefix} />
            : <Shown of={stats}>{(s) => (s ? <Awake manager={manager} stats={s} prefix={prefix} /> : null)}</Shown>}
        </section>
        <div class="aside">
          <Card flush title="By node"><Shown of={stats} rows={3}>{(s) => (s ? <ByNode nodes={s.nodes} /> : null)}</Shown></Card>
          {found ? <ManagerSettings of={found as Schemas['Manager']} /> : <Card title={`Manager ${manager}`}><p class="calm">This scope has no manager of this name: <code>dormctl managers ls</code> lists all.</p></Card>}
        </div>
      </div>
    </PageFrame>
  )
}
