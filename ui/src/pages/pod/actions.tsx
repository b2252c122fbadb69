import { api } from '../../api/client.js'
import { may } from '../../api/session.js'
import { Action, jsonOf } from '../../parts/dialog.js'

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

const examples = {
  'Add a node': pretty([{ add_node: { name: 'clerk', node: { manager: 'chats', activation: 'eager' } } }]),
  'Add one below an owner': pretty([{ add_node: { name: 'clerk', node: { manager: 'chats' }, owner: 'boss', depends_on: ['index'] } }]),
  'Remove a node': pretty([{ remove_node: { name: 'clerk' } }]),
}

/** Reports whether the person may change pods. */
export const mayChangePods = (): boolean => may('run') && may('write')

/** What a person may do with a pod. done gets the report of what was done. */
export function PodActions({ of, done }: { of: { manager: string; key: string }; done: (what: string, report: unknown) => void }) {
  if (!mayChangePods()) return null
  return (
    <>
      <Action label="Mutate" title={`Change the topology of ${of.key}`} fields={[
        { name: 'ops', label: 'Changes', lines: 10, value: examples['Add a node'], hint: 'A JSON list of add_node and remove_node. All apply, or none', examples },
      ]} run={async (v) => done('Mutated', await api.post('/v1/pods/{manager}/{key}/mutate', { params: of, body: { ops: jsonOf('Changes', v['ops']) } }))}>
        <p>The new topology is stored first. Then eager new nodes start and removed nodes stop. Removing a node removes the nodes that it owns.</p>
      </Action>
      <Action label="Reconcile" title={`Reconcile ${of.key}`} fields={[{ name: 'nodes', label: 'Nodes', optional: true, hint: 'Names with commas between; without any, the eager nodes' }]}
        run={async (v) => {
          const nodes = v['nodes']!.split(',').map((n) => n.trim()).filter(Boolean)
          done('Reconciled', await api.post('/v1/pods/{manager}/{key}/reconcile', { params: of, body: nodes.length ? { nodes } : {} }))
        }}>
        <p>The pod starts these nodes with all that they need, and adopts those that are awake.</p>
      </Action>
      <Action label="Hibernate" title={`Hibernate ${of.key}`} danger run={async () => done('Hibernated', await api.post('/v1/pods/{manager}/{key}/hibernate', { params: of }))}>
        <p>All nodes stop, then the pod. What they hold is stored.</p>
      </Action>
    </>
  )
}
