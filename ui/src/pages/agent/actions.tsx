import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { href } from '../../app/address.js'
import { Action } from '../../parts/dialog.js'
import { instanceOf } from './instance.js'

/** What a person may do with an agent. */
export function AgentActions({ checkpoint, reload }: { checkpoint: Schemas['Checkpoint']; reload: () => void }) {
  const { route } = useLocation()
  const { key } = checkpoint
  const ref = instanceOf(key)
  return (
    <>
      {may('write') && (
        <Action label="Fork" title={`Fork ${key}`} fields={[
          { name: 'new_agent', label: 'Id of the new agent', value: `${key}-fork` },
          { name: 'revision', label: 'Revision of the checkpoint', value: String(checkpoint.revision), hint: 'A revision that is still kept' },
        ]} run={async (v) => {
          await api.post('/v1/agents/{key}/fork', { params: { key }, body: { new_agent: v['new_agent']!, revision: Number(v['revision']) } })
          route(href('agent', { id: v['new_agent'] }))
        }}>
          <p>The fork begins with the checkpoint, the thread up to its pointer and the memories. Both agents go on apart.</p>
        </Action>
      )}
      {ref && may('run') && (
        <>
          <Action label="Wake" title={`Wake ${ref.key}`} done={reload} run={() => api.post('/v1/managers/{manager}/instances/{key}', { params: ref, body: {} })}>
            <p>Its owner loads the instance from its checkpoint.</p>
          </Action>
          <Action label="Hibernate" title={`Hibernate ${ref.key}`} done={reload} run={() => api.post('/v1/managers/{manager}/instances/{key}/hibernate', { params: ref })}>
            <p>Its owner stores the instance and frees its memory. The next signal wakes it.</p>
          </Action>
        </>
      )}
      {may('admin') && may('read') && (
        <Action label="Erase" title={`Erase ${key}`} danger typed={key} done={() => route(href('agents'))} run={() => api.delete('/v1/agents/{key}', { params: { key } })}>
          <p>This removes the checkpoint, threads, sessions, memories, conversations and timers of the agent from all nodes. Nothing brings them back, except a backup.</p>
        </Action>
      )}
    </>
  )
}
