import type { Schemas } from '../../api/client.js'
import { exactly, now, span } from '../../parts/time.js'

/** The time until an instance hibernates unless it is used. */
export function IdleLeft({ of }: { of: Schemas['Instance'] }) {
  if (of.status !== 'awake') return <span class="faint">–</span>
  if (of.attachments > 0) return <span class="faint" title="An attachment keeps it awake">attached</span>
  if (!of.idle_at) return <span class="faint" title="Its manager has no idle timeout, or it is handling a signal">never</span>
  return <span title={exactly(of.idle_at)}>{span(Math.max(0, of.idle_at - now.value))}</span>
}
