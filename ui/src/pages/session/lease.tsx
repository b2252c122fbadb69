import type { Schemas } from '../../api/client.js'
import { exactly, now, span } from '../../parts/time.js'

/** The time that is left of a lease, as a bar and in words. */
export function LeaseLeft({ lease }: { lease: Schemas['Lease'] | undefined }) {
  if (!lease) return <span class="faint">–</span>
  const left = lease.expires_at - now.value
  if (left <= 0) return <span class="bad-text" title={exactly(lease.expires_at)}>expired</span>
  return <time dateTime={new Date(lease.expires_at).toISOString()} title={`Unless it is renewed:\n${exactly(lease.expires_at)}`}>{span(left)} left</time>
}
