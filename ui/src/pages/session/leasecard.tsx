import type { Schemas } from '../../api/client.js'
import { Card, Facts } from '../../parts/page.js'
import { Ago, now } from '../../parts/time.js'
import { LeaseLeft } from './lease.js'

/** The lease of a turn, with the time left as a bar. */
export function LeaseCard({ lease, running }: { lease: Schemas['Lease']; running: boolean }) {
  const whole = lease.expires_at - lease.acquired_at
  const left = Math.max(0, Math.min(1, (lease.expires_at - now.value) / Math.max(1, whole)))
  return (
    <Card title="Lease" side={running ? <LeaseLeft lease={lease} /> : null}>
      {running && <div class="meter" role="img" aria-label={`${Math.round(left * 100)} percent of the lease is left`}><span class={left < 0.2 ? 'low' : ''} style={{ width: `${left * 100}%` }} /></div>}
      <Facts of={[
        ['Owner', <strong>{lease.owner_id}</strong>], ['Epoch', <span class="mono">{lease.epoch}</span>], ['Request', lease.request_id ?? '–'], ['Taken', <Ago at={lease.acquired_at} />],
      ]} />
    </Card>
  )
}
