import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { href } from '../../app/address.js'
import { Action } from '../../parts/dialog.js'
import { Json } from '../../parts/json.js'
import { Card } from '../../parts/page.js'
import { Ago } from '../../parts/time.js'

/** The snapshots of a session, newest first; one opens to the state of its turn. */
export function Snapshots({ session }: { session: Schemas['Session'] }) {
  const { route } = useLocation()
  const [open, setOpen] = useState('')
  const all = [...session.snapshots].reverse()
  return (
    <Card title="Snapshots" side={<span class="faint">{all.length}</span>}>
      {all.length === 0 && <p class="calm">No turn has stored a snapshot.</p>}
      <ul class="items">
        {all.map((s) => (
          <li key={s.snapshot_id} class="snapshot">
            <button type="button" class="quiet clip" aria-expanded={open === s.snapshot_id} onClick={() => setOpen(open === s.snapshot_id ? '' : s.snapshot_id)}>{s.cursor?.phase ?? 'snapshot'} <span class="faint mono">{s.snapshot_id}</span></button>
            <span class="side">
              <Ago at={s.at} />
              {may('run') && session.status !== 'running' && (
                <Action label="Fork" title={`Fork ${session.id} at ${s.snapshot_id}`} fields={[{ name: 'id', label: 'Id of the new session', value: `${session.id}-${s.cursor?.phase ?? 'fork'}` }]}
                  run={async (v) => {
                    await api.post('/v1/sessions/{id}/fork', { params: { id: session.id }, body: { id: v['id']!, snapshot_id: s.snapshot_id } })
                    route(href('session', { id: v['id'] }))
                  }} />
              )}
            </span>
            {open === s.snapshot_id && <Json value={{ turn_state: s.turn_state, cursor: s.cursor, metadata: s.metadata }} label="Snapshot" />}
          </li>
        ))}
      </ul>
    </Card>
  )
}
