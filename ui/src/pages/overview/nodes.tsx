import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { readCluster } from '../../app/cluster.js'
import { Badge } from '../../parts/badge.js'
import { Action } from '../../parts/dialog.js'
import { bytes, full, plural } from '../../parts/format.js'
import { Card } from '../../parts/page.js'
import { Table, type Column } from '../../parts/table.js'
import { Ago } from '../../parts/time.js'

type Member = Schemas['Member']
type Status = Schemas['ClusterStatus']

const roleOf = (m: Member): string => (m.host ? 'host' : m.leader ? 'leader' : m.voter ? 'voter' : m.want_vote ? 'joining' : 'non-voter')

/** The members of the cluster, and what an operator may do with them. */
export function Nodes({ status }: { status: Status }) {
  const columns: Column<Member>[] = [
    { head: 'Node', width: 'minmax(72px, 1fr)', cell: (m) => <><strong>{m.id}</strong>{m.id === status.node && <span class="faint"> answers</span>}</> },
    { head: 'State', width: '92px', cell: (m) => <Badge text={m.status} /> },
    { head: 'Role', width: '80px', cell: (m) => (m.leader ? <strong>leader</strong> : roleOf(m)) },
    { head: 'Behind', width: '86px', number: true, cell: (m) => <Lag member={m} status={status} /> },
    { head: 'Disk free', width: '84px', number: true, wide: true, cell: (m) => (m.disk_free ? bytes(m.disk_free) : <span class="faint">{m.host ? '–' : 'unknown'}</span>) },
    { head: 'Last contact', width: '96px', number: true, wide: true, cell: (m) => <Ago at={m.last_contact} none="none yet" /> },
    { head: 'Version', width: 'minmax(80px, 1fr)', wide: true, cell: (m) => <span class="faint">{m.version}</span> },
    { head: 'HTTP', width: 'minmax(120px, 1fr)', wide: true, cell: (m) => <span class="mono faint">{m.addresses.http ?? '–'}</span> },
  ]
  if (may('cluster:change')) columns.push({ head: 'Actions', width: '208px', wide: true, number: true, cell: (m) => <Changes member={m} status={status} /> })
  return (
    <Card flush title="Nodes" side={<span class="faint">term {full(status.term)} · index {full(status.applied_index)} · feature level {status.feature_level}</span>}>
      <Table label="Nodes" columns={columns} rows={status.members} keyOf={(m) => m.id} />
    </Card>
  )
}

/** How many log entries a member is behind the answering node. */
function Lag({ member, status }: { member: Member; status: Status }) {
  if (member.host) return <span class="faint">–</span>
  if (!member.applied_index) return <span class="faint" title="The node did not answer within 500 ms">unknown</span>
  const behind = Math.max(0, status.commit_index - member.applied_index)
  return <span title={plural(behind, 'log entry').replace('entrys', 'entries')}>{full(behind)}</span>
}

function Changes({ member, status }: { member: Member; status: Status }) {
  const change = (what: 'transfer' | 'promote' | 'demote' | 'leave') => () => api.post(`/v1/cluster/${what}`, { body: { node: member.id } })
  const done = (): void => void readCluster()
  if (member.host) return null
  return (
    <div class="row-actions">
      {member.voter && !member.leader && member.status === 'alive' && (
        <Action label="Transfer" title={`Make ${member.id} the leader`} run={change('transfer')} done={done}>
          <p>{status.leader || 'The leader'} hands leadership to {member.id}. Writes wait for less than a second.</p>
        </Action>
      )}
      {!member.voter && <Action label="Promote" title={`Let ${member.id} vote`} run={change('promote')} done={done}><p>The node votes once it has caught up.</p></Action>}
      {member.voter && !member.leader && status.members.filter((m) => m.voter).length > 1 && (
        <Action label="Demote" title={`Make ${member.id} a non-voter`} run={change('demote')} done={done}><p>The node keeps its data and no longer counts for majorities.</p></Action>
      )}
      <Action label="Leave" title={`Remove ${member.id} for good`} danger typed={member.id} run={change('leave')} done={done}>
        <p>The cluster goes on without {member.id}. To come back, the node needs an empty data directory.</p>
      </Action>
    </div>
  )
}
