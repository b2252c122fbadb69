import { may } from '../api/session.js'
import { cluster, clusterError, healthOf, readCluster } from '../app/cluster.js'
import { scope } from '../app/address.js'
import { PageFrame } from '../parts/page.js'
import { Loading, Problem } from '../parts/states.js'
import { Attention } from './overview/attention.js'
import { Nodes } from './overview/nodes.js'
import { Rates } from './overview/rates.js'

/** The health of the cluster, its nodes, its calls, and what needs a person. */
export default function Overview() {
  const sees = may('cluster:read')
  return (
    <PageFrame title="Overview" about={sees ? <Health /> : `Scope ${scope.value}. Your token does not include cluster:read, so the nodes are not shown.`}>
      <Attention />
      {sees && <Rates />}
      {sees && <NodesOrState />}
    </PageFrame>
  )
}

function Health() {
  const status = cluster.value
  if (!status) return clusterError.value ? <span class="bad-text">The status of the cluster is unknown</span> : <span class="faint">Reading the status…</span>
  const health = healthOf(status)
  return (
    <p class="health"><span class={`dot ${health.tone}`} /> <strong>{health.sentence}</strong>{health.detail && <span> {health.detail}</span>}</p>
  )
}

function NodesOrState() {
  const status = cluster.value
  if (status) return <Nodes status={status} />
  return clusterError.value ? <Problem error={clusterError.value} retry={() => void readCluster()} /> : <Loading />
}
