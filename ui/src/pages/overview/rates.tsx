import { useState } from 'preact/hooks'
import { cluster } from '../../app/cluster.js'
import { askAll } from '../../api/ask.js'
import type { Schemas } from '../../api/client.js'
import { nodes } from '../../api/nodes.js'
import { useCall } from '../../api/use.js'
import { Chart, legend, type ChartData } from '../../parts/chart.js'
import { plural, rate } from '../../parts/format.js'
import { Loading, Problem } from '../../parts/states.js'

type History = Schemas['History']
type Kind = 'writes' | 'reads' | 'signals'

/** Asks each node for its history. Nodes that the browser cannot reach are left out. */
async function histories(signal: AbortSignal): Promise<History[]> {
  const told = await askAll<History>('/v1/cluster/history', signal)
  const found = told.flatMap((t) => t.data ?? [])
  if (found.length === 0) throw told[0]!.error
  return found
}

/** The number of steps that a chart shows: more as the nodes get older. */
const stepsMin = 18
const stepsMax = 359

/** The calls of a kind over all nodes, step by step. */
export interface Sum {
  seconds: number[]
  rates: number[]
  p50: number[]
  p99: number[]
}

/**
 * Adds up the histories of nodes. The median is the mean of the nodes' medians, weighted by calls; the
 * 99th percentile is that of the slowest node. The present step, which has not ended, is left out.
 */
export function sum(all: readonly History[], kind: Kind): Sum {
  const stepMs = all[0]?.step_ms ?? 10_000
  const end = Math.max(...all.map((h) => h.from + h[kind].calls.length * stepMs)) - stepMs
  const out: Sum = { seconds: [], rates: [], p50: [], p99: [] }
  const first = Math.min(...all.map((h) => (h.writes.calls.length ? h.from : end)))
  const shown = Math.min(stepsMax, Math.max(stepsMin, (end - first) / stepMs))
  for (let at = end - shown * stepMs; at < end; at += stepMs) {
    let calls = 0
    let weighted = 0
    let slowest = 0
    for (const h of all) {
      const i = (at - h.from) / stepMs
      const n = h[kind].calls[i] ?? 0
      calls += n
      weighted += n * (h[kind].p50_us[i] ?? 0)
      slowest = Math.max(slowest, h[kind].p99_us[i] ?? 0)
    }
    out.seconds.push(at / 1000)
    out.rates.push((calls * 1000) / stepMs)
    out.p50.push(calls ? Math.round(weighted / calls) : 0)
    out.p99.push(slowest)
  }
  return out
}

/** The rates and the latencies of the last hour. */
export function Rates() {
  const found = useCall(histories, [nodes.value.length], 10_000)
  if (!found.data) return found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading rows={3} />
  const data = found.data
  const members = cluster.value?.members.filter((m) => !m.host).length ?? data.length
  return (
    <section aria-label="Calls of the last hour">
      <div class="rates">
        {(['writes', 'reads', 'signals'] as const).map((kind) => <Rate key={kind} kind={kind} of={sum(data, kind)} />)}
      </div>
      {data.length < members && (
        <p class="note">The calls of {data.map((h) => h.node).join(', ')}: the browser does not reach the other {plural(members - data.length, 'node')}.</p>
      )}
    </section>
  )
}

function Rate({ kind, of }: { kind: Kind; of: Sum }) {
  const [point, setPoint] = useState<number | null>(null)
  const last = of.rates.length - 1
  const i = point ?? last
  const title = kind[0]!.toUpperCase() + kind.slice(1)
  const shown = rate(of.rates[i] ?? 0)
  return (
    <div class="card rate">
      <div class="rate-head">
        <h2>{title}</h2>
        <span class="faint">{point === null ? 'last 10 s' : new Date(of.seconds[i]! * 1000).toLocaleTimeString()}</span>
      </div>
      <p class="rate-now"><strong>{shown}</strong><span class="faint">/s</span><span class="rate-legend">{legend(of.p50[i] ?? 0, of.p99[i] ?? 0)}</span></p>
      <Chart data={[of.seconds, of.rates] as ChartData} label={`${title} a second over the last hour; now ${shown}`} onPoint={setPoint} />
    </div>
  )
}
