import { useEffect, useMemo, useState } from 'preact/hooks'
import type dagreType from '@dagrejs/dagre'
import type { PodNode, Topology } from './topology.js'

const nodeWidth = 156
const nodeHeight = 52
const margin = 8
/** Half the distance of a link of owners and one of dependencies at the same node. */
const apart = 14

interface Point {
  x: number
  y: number
}

interface Placed {
  width: number
  height: number
  at: Map<string, Point>
  lines: { key: string; type: string; path: string; label: string }[]
}

/** Lays the topology out in ranks: owners above what they own, and nodes below those that they depend on. */
function layout(dagre: typeof dagreType, of: Topology): Placed {
  const graph = new dagre.graphlib.Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'TB', nodesep: 26, ranksep: 46, edgesep: 14, marginx: margin, marginy: margin })
  for (const n of of.nodes) graph.setNode(n.name, { width: nodeWidth, height: nodeHeight })
  for (const l of of.links) {
    const [v, w] = l.type === 'owns' ? [l.from, l.to] : [l.to, l.from]
    graph.setEdge(v, w, {}, l.type)
  }
  dagre.layout(graph)
  const at = new Map(of.nodes.map((n) => [n.name, graph.node(n.name) as Point]))
  const lines = of.links.map((l) => {
    const [v, w] = l.type === 'owns' ? [l.from, l.to] : [l.to, l.from]
    const { points } = graph.edge(v, w, l.type) as { points: Point[] }
    const down = points.length <= 3 ? between(at.get(v)!, at.get(w)!, l.type === 'owns' ? -apart : apart) : points
    const ordered = l.type === 'owns' ? down : [...down].reverse()
    return { key: `${l.type}/${l.from}/${l.to}`, type: l.type, path: points.length <= 3 ? bend(ordered) : curve(ordered), label: `${l.from} ${l.type === 'owns' ? 'owns' : 'depends on'} ${l.to}` }
  })
  const size = graph.graph() as { width?: number; height?: number }
  return { width: Math.ceil(size.width ?? 0), height: Math.ceil(size.height ?? 0), at, lines }
}

/** Returns the ends of a link to the next rank: owners and dependencies meet a node beside each other. */
const between = (above: Point, below: Point, aside: number): Point[] => [
  { x: above.x + aside, y: above.y + nodeHeight / 2 }, { x: below.x + aside, y: below.y - nodeHeight / 2 },
]

const r = (n: number): string => n.toFixed(1)

/** Returns a path that leaves and meets its nodes vertically. */
function bend([from, to]: readonly Point[]): string {
  const middle = r((from!.y + to!.y) / 2)
  return `M${r(from!.x)} ${r(from!.y)}C${r(from!.x)} ${middle} ${r(to!.x)} ${middle} ${r(to!.x)} ${r(to!.y)}`
}

/** Returns a smooth path through the points. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  let path = `M${r(first.x)} ${r(first.y)}`
  for (let i = 0; i < rest.length - 1; i++) {
    const p = rest[i]!
    const next = rest[i + 1]!
    const end = i === rest.length - 2 ? next : { x: (p.x + next.x) / 2, y: (p.y + next.y) / 2 }
    path += `Q${r(p.x)} ${r(p.y)} ${r(end.x)} ${r(end.y)}`
  }
  if (rest.length === 1) path += `L${r(rest[0]!.x)} ${r(rest[0]!.y)}`
  return path
}

const statusOf = (n: PodNode): string => n.state?.status ?? 'unknown'

/** The topology of a pod as a graph. Its layout changes only with the topology; the states of its nodes are drawn as they change. */
export function Graph({ of, selected, onSelect }: { of: Topology; selected: string; onSelect: (name: string) => void }) {
  const [dagre, setDagre] = useState<typeof dagreType | undefined>()
  useEffect(() => {
    let ended = false
    void import('@dagrejs/dagre').then((m) => !ended && setDagre(() => m.default))
    return () => {
      ended = true
    }
  }, [])
  const shape = JSON.stringify([of.nodes.map((n) => n.name), of.links])
  const placed = useMemo(() => (dagre ? layout(dagre, of) : undefined), [dagre, shape])
  if (!placed) return <div class="graph" />
  const keyed = (e: KeyboardEvent, name: string): void => {
    if (e.key !== 'Enter' && e.key !== ' ') return
    e.preventDefault()
    onSelect(name)
  }
  return (
    <div class="graph" tabIndex={0} role="group" aria-label={`Topology of ${of.nodes.length} nodes`}>
      <svg viewBox={`0 0 ${placed.width} ${placed.height}`} width={placed.width} height={placed.height}>
        <defs>
          {['owns', 'depends_on'].map((type) => (
            <marker key={type} id={`arrow-${type}`} class={`arrow ${type}`} viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 .5 8 4 0 7.5z" /></marker>
          ))}
        </defs>
        {placed.lines.map((l) => <path key={l.key} class={`link ${l.type}`} d={l.path} marker-end={`url(#arrow-${l.type})`}><title>{l.label}</title></path>)}
        {of.nodes.map((n) => {
          const p = placed.at.get(n.name)!
          const status = statusOf(n)
          const title = clip(n.name, 17)
          const line = clip(`${status} · ${n.manager}`, 23)
          const eager = n.activation === 'eager'
          return (
            <g key={n.name} class={`pod-node ${status}${n.name === selected ? ' selected' : ''}`} transform={`translate(${p.x - nodeWidth / 2} ${p.y - nodeHeight / 2})`}>
              <rect width={nodeWidth} height={nodeHeight} rx={n.kind === 'pod' ? 2 : 9} />
              {n.kind === 'pod' && <rect class="inner" x="3" y="3" width={nodeWidth - 6} height={nodeHeight - 6} rx="1" />}
              <circle cx="15" cy="19" r="4.500" />
              <text x="27" y="23" class="name" aria-hidden="true">{title}</text>
              <text x="15" y="41" aria-hidden="true">{line}</text>
              {eager && <text x={nodeWidth - 9} y="22" class="eager" text-anchor="end" aria-hidden="true">⚡</text>}
              <rect class="hit" width={nodeWidth} height={nodeHeight} role="button" tabindex={0} aria-pressed={n.name === selected} aria-label={`${n.name}, ${status}, ${n.kind} of ${n.manager}${eager ? ', eager' : ''}`}
                onClick={() => onSelect(n.name)} onKeyDown={(e) => keyed(e, n.name)} />
            </g>
          )
        })}
      </svg>
    </div>
  )
}

const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
