import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { dark } from '../app/theme.js'
import { latency, rate } from './format.js'

/** A chart's data: the seconds since the Unix epoch, and for each series a value at each of them. */
export type ChartData = [number[], ...(number | null)[][]]

const css = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Draws rates as an area, and under the pointer says what they are. Its colours follow the theme. */
export function Chart({ data, label, onPoint }: { data: ChartData; label: string; onPoint: (index: number | null) => void }) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const point = useRef(onPoint)
  point.current = onPoint
  useEffect(() => {
    let ended = false
    let size: ResizeObserver | undefined
    void import('uplot').then(({ default: UPlot }) => {
      if (ended || !box.current) return
      const el = box.current
      plot.current = new UPlot(options(el.clientWidth, (i) => point.current(i)), data as uPlot.AlignedData, el)
      size = new ResizeObserver(() => plot.current?.setSize({ width: el.clientWidth, height: 96 }))
      size.observe(el)
    })
    return () => {
      ended = true
      size?.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [dark.value])
  useEffect(() => plot.current?.setData(data as uPlot.AlignedData), [data])
  return <div ref={box} class="chart" role="img" aria-label={label} />
}

function options(width: number, onPoint: (index: number | null) => void): uPlot.Options {
  const axis = { stroke: css('--faint'), grid: { stroke: css('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' }
  return {
    width, height: 96, padding: [6, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, Math.max(1, max * 1.15)] } },
    axes: [{ ...axis, grid: { show: false }, size: 22, space: 70, values: (_u, splits) => splits.map((s) => new Date(s * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })) },
      { ...axis, size: 38, space: 30, values: (_u, splits) => splits.map((v) => rate(v)) }],
    series: [{}, { stroke: css('--accent'), fill: css('--accent-wash'), width: 1.5, points: { show: false } }],
    hooks: { setCursor: [(u) => onPoint(u.cursor.idx ?? null)] },
  }
}

/** Returns the legend of a step. */
export const legend = (p50: number, p99: number): string => `p50 ${latency(p50)} · p99 ${latency(p99)}`
