import { api } from '../../api/client.js'
import { href } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { Action } from '../../parts/dialog.js'
import { Card, Facts } from '../../parts/page.js'
import { mayChangePods } from './actions.js'
import type { PodNode, Topology } from './topology.js'

/** One node of a pod: its state, its place in the topology, and its instance. */
export function NodeCard({ of, node, topology, reload }: { of: { manager: string; key: string }; node: PodNode; topology: Topology; reload: () => void }) {
  const { state, name } = node
  const names = (type: string, near: 'from' | 'to', far: 'from' | 'to'): string => topology.links.filter((l) => l.type === type && l[near] === name).map((l) => l[far]).join(', ')
  const parent = state?.actual_parent
  return (
    <Card title={name} side={<><Badge text={state?.status ?? 'unknown'} />{mayChangePods() && state?.status === 'stopped' && (
      <Action label="Start" title={`Start ${name}`} done={reload} run={() => api.post('/v1/pods/{manager}/{key}/nodes/{name}/ensure', { params: { ...of, name }, body: {} })}>
        <p>The pod starts the node, after the nodes that it needs.</p>
      </Action>
    )}</>}>
      <Facts of={[
        ['Kind', `${node.kind} of ${node.manager}`],
        ['Starts', node.activation === 'eager' ? 'with the pod' : 'when it is needed'],
        ...(state?.node ? [['Node', state.node] as const] : []),
        ['Owned by', names('owns', 'to', 'from') || 'the pod'],
        ...(names('owns', 'from', 'to') ? [['Owns', names('owns', 'from', 'to')] as const] : []),
        ...(names('depends_on', 'from', 'to') ? [['Depends on', names('depends_on', 'from', 'to')] as const] : []),
        ['Parent', parent ? parent.node ? `${parent.node} of ${parent.manager}/${parent.key}` : `${parent.manager}/${parent.key}` : 'none now'],
        ...(state ? [['Instance', node.kind === 'pod'
          ? <a href={href('pod', { manager: state.manager, key: state.key })}>{state.key}</a>
          : <a href={href('instance', { manager: state.manager, key: state.key })}>{state.key}</a>] as const] : []),
      ]} />
      {state?.status === 'misplaced' && <p class="note">It is awake with another parent than the topology names. Stop its instance first, then reconcile.</p>}
    </Card>
  )
}
