import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { href } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { Action } from '../../parts/dialog.js'
import { Json } from '../../parts/json.js'
import { Card, Facts } from '../../parts/page.js'
import { Clock } from '../../parts/time.js'

/** One entry of a thread in full. */
export function EntryCard({ entry, thread, close }: { entry: Schemas['Entry']; thread: string; close: () => void }) {
  const { route } = useLocation()
  return (
    <Card title={`Entry ${entry.seq}`} side={
      <>
        {may('write') && (
          <Action label="Fork from here" title={`Fork ${thread} after entry ${entry.seq}`} fields={[{ name: 'id', label: 'Id of the new thread', value: `${thread}-fork-${entry.seq}` }]}
            run={async (v) => {
              await api.post('/v1/threads/{id}/fork', { params: { id: thread }, body: { id: v['id']!, at_rev: entry.seq + 1 } })
              await api.put('/v1/checkpoints/{key}', { params: { key: v['id']! }, body: { state: {}, thread: { id: v['id']!, rev: entry.seq + 1 }, on_exists: 'skip' } as never })
              route(href('agent', { id: v['id'] }))
            }}>
            <p>The new thread shares the entries up to this one. A new agent of the same name points to it.</p>
          </Action>
        )}
        <button type="button" class="quiet" onClick={close} aria-label="Close the entry">Close</button>
      </>
    }>
      <Facts of={[
        ['Kind', <Badge text={entry.kind} />],
        ['Id', <span class="mono">{entry.id}</span>],
        ['At', <Clock at={entry.at} />],
        ...(entry.content_type ? [['Bytes', entry.content_type] as const] : []),
      ]} />
      <Json value={entry.payload} open={4} label="Payload" />
      {Object.keys(entry.refs).length > 0 && <><h3>References</h3><Json value={entry.refs} label="References" /></>}
    </Card>
  )
}

/** Returns the part of a payload that people look for first, as one line. */
export function summaryOf(entry: Schemas['Entry']): string {
  const p = entry.payload
  const text = (name: string): string => {
    const v = p[name]
    return typeof v === 'string' ? v : v === undefined ? '' : JSON.stringify(v)
  }
  const name = text('name') || text('tool') || text('operation')
  const what = text('content') || text('text') || text('result') || text('output') || text('arguments') || text('input') || text('event')
  const flat = (name && what ? `${name} ${what}` : what || name || JSON.stringify(p)).slice(0, 400)
  return flat.replace(/\s+/g, ' ')
}
