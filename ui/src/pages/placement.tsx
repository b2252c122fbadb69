import { useLocation } from 'preact-iso/router'
import { api } from '../api/client.js'
import { useCall } from '../api/use.js'
import { href } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { full, plural } from '../parts/format.js'
import { Card, PageFrame } from '../parts/page.js'
import { Shown } from '../parts/states.js'
import { Ago } from '../parts/time.js'
import { Changes } from './placement/changes.js'
import { Explain } from './placement/explain.js'
import { PartitionMap, colorOf } from './placement/map.js'
import { Shares } from './placement/nodes.js'
import { Pins } from './placement/pins.js'

/** The owners of the partitions as a map, why one key is where it is, the rules of operators, and the newest changes. */
export default function Placement() {
  const { query, route } = useLocation()
  const map = useCall((signal) => api.get('/v1/placement/partitions', { signal }), [], 2_000)
  const shares = useCall((signal) => api.get('/v1/placement', { signal }), [], 2_000)
  const data = map.data
  const done = (): void => {
    map.reload()
    shares.reload()
  }
  const free = data ? data.owners.filter((o) => o < 0).length : 0
  return (
    <PageFrame title="Placement" about={data
      ? <>{full(data.owners.length)} partitions on {plural(data.nodes.length, 'node')}{free > 0 && <span class="bad-text"> · {full(free)} without an owner</span>} · {data.moving.length === 0 ? 'nothing moves' : <Badge text={`${data.moving.length} moving`} tone="warn" />}</>
      : 'The keys of live instances hash to partitions; each partition has one owner.'}>
      <div class="placement">
        <Card title="Partitions">
          <Shown of={map}>{(m) => (
            <>
              <PartitionMap map={m} />
              <ul class="legend">
                {m.nodes.map((node, i) => {
                  const share = shares.data?.nodes.find((n) => n.node === node)
                  return <li key={node}><span class="swatch" style={{ background: colorOf(i) }} /> <strong>{node}</strong> <span class="faint">{full(m.owners.filter((o) => o === i).length)}{share?.zone ? ` · ${share.zone}` : ''}{share?.coming ? ` · ${share.coming} coming` : ''}{share?.draining ? ` · ${share.draining} leaving` : ''}</span></li>
                })}
              </ul>
              {m.moving.length > 0 && (
                <ul class="items">{m.moving.slice(0, 8).map((p) => <li key={p.partition}><span>partition <span class="mono">{p.partition}</span>: {p.from} → {p.to ?? 'anyone'}</span><span class="side">{p.why}</span></li>)}</ul>
              )}
            </>
          )}</Shown>
        </Card>
        <div class="aside">
          {shares.data && <Shares shares={shares.data} done={done} />}
          <Explain manager={query['manager'] ?? ''} name={query['key'] ?? ''} shares={shares.data} onAsk={(manager, key) => route(href('placement', { manager, key }), true)} />
          {shares.data && <Pins shares={shares.data} done={done} />}
          <Card flush title="Newest changes" side={data?.events[0] && <span class="faint"><Ago at={data.events[0].at} /></span>}>
            <Shown of={map}>{(m) => <Changes events={m.events} none="No change of an owner is kept." />}</Shown>
          </Card>
        </div>
      </div>
    </PageFrame>
  )
}
