import type { Schemas } from '../../api/client.js'
import { Json } from '../../parts/json.js'
import { Card, Facts } from '../../parts/page.js'
import { Ago, span } from '../../parts/time.js'

type Manager = Schemas['Manager']

/** Returns what handles the signals of a manager. */
export function handlerOf({ handler }: Manager): string {
  if (handler.kind === 'go') return `Go: ${handler.name ?? ''}`
  return handler.kind === 'http' ? handler.url ?? 'http' : handler.kind
}

/** The settings of a manager. */
export function ManagerSettings({ of }: { of: Manager }) {
  return (
    <Card title={`Manager ${of.name}`} side={<span class="faint">revision {of.revision}</span>}>
      <Facts of={[
        ['Handler', handlerOf(of)],
        ['Idle timeout', of.idle_timeout_ms ? span(of.idle_timeout_ms) : 'never'],
        ['Durability', of.durability],
        ['Storage', of.storage],
        ['Mailbox', `at most ${of.mailbox_max} calls`],
        ['Awake', of.awake_max ? `at most ${of.awake_max} on a node` : 'no limit'],
        ['Signal', `at most ${span(of.signal_ttl_ms)}`],
        ['Attachment', `ends after ${span(of.attach_ttl_ms)} without a touch`],
        ['Tracked', of.track === null ? 'once there is a thread' : of.track ? 'yes' : 'no'],
        ['Version', <span class="mono">{of.version}</span>],
        ...(of.skips_persist?.length ? [['Not stored', of.skips_persist.join(', ')] as const] : []),
        ['Updated', <Ago at={of.updated_at} />],
      ]} />
      {of.schedules && Object.keys(of.schedules).length > 0 && <><h3>Recurring jobs</h3><Json value={of.schedules} label="Recurring jobs" /></>}
      {Object.keys(of.metadata).length > 0 && <><h3>Metadata</h3><Json value={of.metadata} label="Metadata" open={1} /></>}
    </Card>
  )
}
