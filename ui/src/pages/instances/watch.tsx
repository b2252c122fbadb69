import { useRef, useState } from 'preact/hooks'
import { detailOf, watch, type Schemas } from '../../api/client.js'
import { useWork } from '../../api/use.js'
import { scope } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { Card } from '../../parts/page.js'
import { Clock } from '../../parts/time.js'

type Change = Schemas['InstanceChange']
type Seen = { n: number; change?: Change; missed?: string; at: number }

/** The changes that are kept; the first are dropped. */
const keptMax = 200

/** How an instance changes, from the moment that the page opens. */
export function WatchCard({ of, onChange }: { of: { manager: string; key: string }; onChange: () => void }) {
  const [seen, setSeen] = useState<readonly Seen[]>([])
  const [error, setError] = useState('')
  const changed = useRef(onChange)
  changed.current = onChange
  useWork(async (signal) => {
    setSeen([])
    setError('')
    let n = 0
    try {
      for await (const event of watch<Change & { reason: string; node?: string }>('/v1/managers/{manager}/instances/{key}/watch', { signal, params: { manager: of.manager, key: of.key } })) {
        n++
        const at = Date.now()
        if (event.kind === 'instance') {
          const change = event.data
          setSeen((s) => [{ n, change, at: change.at }, ...s].slice(0, keptMax))
        } else if (event.kind === 'missed' && n > 1) {
          setSeen((s) => [{ n, missed: `${event.data.node ? `${event.data.node}: ` : ''}${event.data.reason}`, at }, ...s].slice(0, keptMax))
        }
        changed.current()
      }
    } catch (failure) {
      if (!signal.aborted) setError(detailOf(failure))
    }
  }, [scope.value, of.manager, of.key])
  return (
    <Card flush title="Changes" side={<span class="faint"><span class={`dot ${error ? 'bad' : 'good'}`} /> {error || 'live'}</span>}>
      {seen.length === 0
        ? <p class="calm pad">It has not changed since this page opened. Changes appear here as they happen: waking, awake, draining, dormant.</p>
        : <ul class="changes" tabIndex={0} aria-label="Changes, the last first">
          {seen.map((s) => (s.change
            ? <li key={s.n}><Badge text={s.change.status} /><span class="changes-what">{s.change.reason}<span class="faint"> · {s.change.node} · epoch {s.change.epoch}</span></span><Clock at={s.at} /></li>
            : <li key={s.n}><Badge text="missed" tone="warn" /><span class="changes-what faint">Changes may be missing: {s.missed}</span><Clock at={s.at} /></li>))}
        </ul>}
    </Card>
  )
}
