import type { Schemas } from '../../api/client.js'
import { Badge, type Tone } from '../../parts/badge.js'
import { plural } from '../../parts/format.js'
import { Ago } from '../../parts/time.js'

const tones: Record<string, Tone> = { assigned: 'good', moved: 'good', draining: 'warn', kept: 'plain', released: 'plain', lapsed: 'bad', ended: 'warn' }

/** Changes of owners, with their reasons. */
export function Changes({ events, none, ofOne }: { events: Schemas['PlacementMap']['events']; none: string; ofOne?: boolean }) {
  if (events.length === 0) return <p class="calm pad">{none}</p>
  return (
    <ul class="changes" tabIndex={0}>
      {events.map((e, i) => (
        <li key={`${e.index}/${i}`}>
          <Badge text={e.kind} tone={tones[e.kind] ?? 'plain'} />
          <span class="changes-what">
            {e.from ?? ''}{e.to ? ` → ${e.to}` : ''}{!ofOne && <span class="faint"> · {plural(e.partitions, 'partition')}</span>}{e.epoch ? <span class="faint"> · epoch {e.epoch}</span> : null}
            <small>{e.why}</small>
          </span>
          <span class="faint"><Ago at={e.at} /></span>
        </li>
      ))}
    </ul>
  )
}
