import { href } from '../../app/address.js'
import { cluster, clusterError, healthOf, readCluster } from '../../app/cluster.js'
import { may } from '../../api/session.js'
import { useCall } from '../../api/use.js'
import { Badge } from '../../parts/badge.js'
import { full } from '../../parts/format.js'
import { Card, Facts } from '../../parts/page.js'
import { Empty, Loading, Problem, Shown } from '../../parts/states.js'
import { Ago } from '../../parts/time.js'
import { readRecords } from './records.js'

/** The members in full, and what the audit log of the answering node says of their history. */
export function Members() {
  const status = cluster.value
  if (!status) return clusterError.value ? <Problem error={clusterError.value} retry={() => void readCluster()} /> : <Loading />
  const health = healthOf(status)
  return (
    <div class="scroll members" tabIndex={0} role="group" aria-label="Members">
      <Card title="Cluster" side={<Badge text={health.sentence} tone={health.tone} />}>
        <Facts of={[
          ['Id', <span class="mono">{status.cluster_id}</span>],
          ['Leader', status.leader || 'none'],
          ['Term', full(status.term)],
          ['Committed', `index ${full(status.commit_index)}`],
          ['Feature level', status.feature_level],
          ['Access', status.auth === 'off' ? 'anybody: the answering node asks for no token' : status.auth],
        ]} />
      </Card>
      {status.members.map((m) => (
        <Card key={m.id} title={m.id} side={<><Badge text={m.status} />{m.leader ? <strong>leader</strong> : m.host ? 'host' : m.voter ? 'voter' : 'non-voter'}</>}>
          <Facts of={[
            ['Version', m.version || 'unknown'],
            ...(m.drained_at ? [['Drained', <Ago at={m.drained_at} />] as const] : []),
            ['Applied', m.applied_index ? `index ${full(m.applied_index)}` : m.host ? 'stores no data' : 'unknown: it did not answer'],
            ['HTTP', <span class="mono">{m.addresses.http ?? '–'}</span>],
            ['gRPC', <span class="mono">{m.addresses.grpc ?? '–'}</span>],
            ['Raft', <span class="mono">{m.addresses.raft ?? '–'}</span>],
            ['Gossip', <span class="mono">{m.addresses.gossip ?? '–'}</span>],
            ['Data dir', <span class="mono">{m.incarnation || '–'}</span>],
          ]} />
        </Card>
      ))}
      {may('cluster:change') && <History />}
      <p class="calm">Make a node the leader, let it vote, or remove it on the <a href={href('')}>overview</a>.</p>
    </div>
  )
}

/** The changes of members, as the audit log of the answering node has them. */
function History() {
  const found = useCall((signal) => readRecords('', 'admin', 0, signal), [], 10_000)
  return (
    <Card title="History">
      <Shown of={found} rows={3}>{({ records, next }) => {
        const ended = records.filter((r) => r.phase !== 'begin')
        if (ended.length === 0) return <Empty title="The audit log of this node has no change of a member" />
        return (
          <>
            <ul class="items">{ended.slice(0, 50).map((r) => (
              <li key={r.seq}><span class="clip"><strong>{(r.action ?? '').replaceAll('_', ' ')}</strong> {(r.object ?? []).join(' ')} {r.detail} {r.outcome && r.outcome !== 'ok' && <Badge text={r.outcome} tone="bad" />}</span><span class="side">{r.principal} <Ago at={Date.parse(r.time)} /></span></li>
            ))}</ul>
            {(next !== undefined || ended.length > 50) && <p class="note"><a href={href('cluster', { tab: 'audit', kind: 'admin' })}>All of them</a></p>}
          </>
        )
      }}</Shown>
    </Card>
  )
}
