import { useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { useCall } from '../../api/use.js'
import { line } from '../../parts/format.js'
import { Json } from '../../parts/json.js'
import { Card } from '../../parts/page.js'
import { Shown } from '../../parts/states.js'
import { exactly } from '../../parts/time.js'
import { differences } from './diff.js'

type Checkpoint = Schemas['Checkpoint']

/** A checkpoint at any kept revision, and its differences from another one. */
export function CheckpointCard({ current }: { current: Checkpoint }) {
  const key = current.key
  const [revision, setRevision] = useState(0) // 0 is the current one
  const [against, setAgainst] = useState(0) // 0 is none
  const history = useCall((signal) => api.get('/v1/checkpoints/{key}/history', { signal, params: { key }, query: { limit: 100 } }), [key, current.revision])
  const load = (r: number, signal: AbortSignal): Promise<Checkpoint> =>
    r === 0 || r === current.revision ? Promise.resolve(current) : api.get('/v1/checkpoints/{key}', { signal, exact: true, params: { key }, query: { revision: r } })
  const shown = useCall(async (signal) => ({
    is: await load(revision, signal), other: against ? await load(against, signal) : undefined,
  }), [key, revision, against, current.revision])
  const rows = history.data?.items ?? []
  const options = rows.map((r) => <option key={r.revision} value={r.revision} title={exactly(r.updated_at)}>r{r.revision}</option>)
  return (
    <Card title="Checkpoint" side={rows.length > 1 && (
      <>
        <label><span class="hidden">Revision</span><select value={revision} onChange={(e) => setRevision(Number(e.currentTarget.value))}><option value={0}>current</option>{options}</select></label>
        <label><span class="hidden">Compared with</span><select value={against} onChange={(e) => setAgainst(Number(e.currentTarget.value))}><option value={0}>compare…</option>{options}</select></label>
      </>
    )}>
      <Shown of={shown} rows={3}>{({ is, other }) => (other
        ? <Differences before={other} after={is} />
        : <>
          <Json value={is.state} label="State" />
          {Object.keys(is.metadata).length > 0 && <><h3>Metadata</h3><Json value={is.metadata} label="Metadata" /></>}
        </>)}
      </Shown>
    </Card>
  )
}

function Differences({ before, after }: { before: Checkpoint; after: Checkpoint }) {
  const all = differences({ state: before.state, metadata: before.metadata, thread: before.thread }, { state: after.state, metadata: after.metadata, thread: after.thread })
  if (all.length === 0) return <p class="calm">Revisions {before.revision} and {after.revision} are equal.</p>
  return (
    <div class="diff mono" tabIndex={0} role="group" aria-label={`Differences of revision ${after.revision} from ${before.revision}`}>
      {all.map((d) => (
        <div key={d.path}>
          <div class="diff-path">{d.path}</div>
          {d.before !== undefined && <div class="diff-before">− {line(d.before)}</div>}
          {d.after !== undefined && <div class="diff-after">+ {line(d.after)}</div>}
        </div>
      ))}
    </div>
  )
}
