import type { Schemas } from '../../api/client.js'

/** A node of a topology with its present state, if that is known. */
export interface PodNode {
  name: string
  kind: string
  manager: string
  activation: string
  state: Schemas['Snapshot'] | undefined
}

/** A link of two nodes. */
export interface PodLink {
  type: 'owns' | 'depends_on'
  from: string
  to: string
}

/** The topology of a pod, as drawn. */
export interface Topology {
  nodes: PodNode[]
  links: PodLink[]
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v)
const text = (v: unknown): string => (typeof v === 'string' ? v : '')

/** Reads the stored topology of a pod, and adds the states of its nodes. Links are objects or lists. */
export function topologyOf(stored: unknown, states: readonly Schemas['Snapshot'][]): Topology {
  const topology = isObject(stored) ? stored : {}
  const rows = isObject(topology['nodes']) ? topology['nodes'] : {}
  const byName = new Map(states.map((s) => [s.name, s]))
  const nodes = Object.keys(rows).sort().map((name) => {
    const row = isObject(rows[name]) ? rows[name] : {}
    return { name, kind: text(row['kind']) || 'agent', manager: text(row['manager']), activation: text(row['activation']) || 'lazy', state: byName.get(name) }
  })
  const links: PodLink[] = []
  for (const link of Array.isArray(topology['links']) ? topology['links'] as unknown[] : []) {
    const [type, from, to] = Array.isArray(link) ? (link as unknown[]).map(text) : isObject(link) ? [text(link['type']), text(link['from']), text(link['to'])] : []
    if ((type === 'owns' || type === 'depends_on') && from && to && rows[from] && rows[to]) links.push({ type, from, to })
  }
  return { nodes, links }
}
