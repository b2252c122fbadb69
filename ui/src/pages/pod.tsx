import { useLocation } from 'preact-iso/router'
import { useRef, useState } from 'preact/hooks'
import { api, codeOf, watch, type Schemas } from '../api/client.js'
import { useCall, useWork } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { plural, quoted } from '../parts/format.js'
import { Json } from '../parts/json.js'
import { Card, PageFrame } from '../parts/page.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { PodActions } from './pod/actions.js'
import { Graph } from './pod/graph.js'
import { NodeCard } from './pod/node.js'
import { topologyOf } from './pod/topology.js'

interface Pod {
  pod: Schemas['StoredPod']
  nodes: Schemas['Snapshot'][]
}

const everyMs = 3_000

/** One pod: its topology as a graph with each node's state, and what a person may do with it. */
export default function PodPage() {
  const { query, route } = useLocation()
  const ref = { manager: query['manager'] ?? '', key: query['key'] ?? '' }
  const selected = query['node'] ?? ''
  const back = { href: href('pods', { manager: ref.manager }), text: ref.manager || 'Pods' }
  const found = useCall<Pod>(async (signal) => {
    const [pod, nodes] = await Promise.all([
      api.get('/v1/pods/{manager}/{key}', { signal, params: ref }), api.get('/v1/pods/{manager}/{key}/nodes', { signal, params: ref }),
    ])
    return { pod, nodes: nodes.items }
  }, [scope.value, ref], everyMs)
  useChanges(ref.manager, found.data, found.reload)
  const [reported, setReported] = useState<{ of: typeof ref; what: string; report: unknown } | undefined>()
  const done = reported?.of.manager === ref.manager && reported.of.key === ref.key ? reported : undefined
  if (!ref.manager || !ref.key) return <PageFrame title="Pod" back={back}><Empty title="The address names no pod" command="dormctl pods get MANAGER KEY" /></PageFrame>
  const data = found.data
  if (!data) {
    const missing = codeOf(found.error) === 'not_found'
    return <PageFrame title={ref.key} back={back}>{missing ? <Problem error={found.error} /> : found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />}</PageFrame>
  }
  const topology = topologyOf(data.pod.topology, data.nodes)
  const awake = topology.nodes.filter((n) => n.state && n.state.status !== 'stopped').length
  const select = (name: string): void => route(href('pod', { ...ref, node: name === selected ? '' : name }), true)
  const shown = topology.nodes.find((n) => n.name === selected)
  return (
    <PageFrame title={ref.key} back={back} actions={<PodActions of={ref} done={(what, report) => {
      setReported({ of: ref, what, report })
      found.reload()
    }} />} about={
      <><Badge text={data.pod.status} /> {awake} of {plural(topology.nodes.length, 'node')} awake · version <span class="mono">{data.pod.topology_version}</span> of its topology · <a href={href('instance', ref)}>as an instance</a></>
    }>
      {found.error ? <Problem error={found.error} retry={found.reload} /> : null}
      <div class="columns graphs">
        <Card flush title="Topology" side={<Legend />}>
          {topology.nodes.length === 0
            ? <Empty title="The topology has no nodes" command={`dormctl pods mutate ${quoted(ref.manager)} ${quoted(ref.key)} '[{"add_node":{"name":"clerk","node":{"manager":"chats"}}}]'`}>Add one with Mutate, or:</Empty>
            : <Graph of={topology} selected={selected} onSelect={select} />}
        </Card>
        <div class="aside">
          {done && <Card title={done.what} side={<button type="button" class="quiet" onClick={() => setReported(undefined)}>Close</button>}><Json value={done.report} label={done.what} open={3} /></Card>}
          {shown ? <NodeCard of={ref} node={shown} topology={topology} reload={found.reload} /> : <Card title="Node"><p class="calm">Choose a node in the graph to see its state.</p></Card>}
          <Mutation of={data.pod.mutation} />
        </div>
      </div>
    </PageFrame>
  )
}

function Legend() {
  return <span class="faint graph-legend"><svg width="26" height="8" aria-hidden="true"><path class="link owns" d="M0 4h26" /></svg> owns <svg width="26" height="8" aria-hidden="true"><path class="link depends_on" d="M0 4h26" /></svg> depends on · ⚡ eager</span>
}

/** The newest mutation of a pod. */
function Mutation({ of }: { of: unknown }) {
  const mutation = typeof of === 'object' && of !== null ? of as Record<string, unknown> : {}
  const status = typeof mutation['status'] === 'string' ? mutation['status'] : 'idle'
  return (
    <Card title="Newest mutation" side={<Badge text={status} {...(status === 'idle' ? { tone: 'plain' as const } : {})} />}>
      {status === 'idle' ? <p class="calm">The topology has not been mutated yet.</p> : <Json value={mutation} label="Newest mutation" open={1} />}
    </Card>
  )
}

/** Reloads when an instance of the pod or of one of its nodes changes. */
function useChanges(manager: string, data: Pod | undefined, reload: () => void): void {
  const latest = useRef(reload)
  latest.current = reload
  const keys = [...new Set([`${manager}\n`, ...(data?.nodes ?? []).map((n) => `${n.manager}\n`)])].sort()
  const own = useRef(new Set<string>())
  own.current = new Set((data?.nodes ?? []).map((n) => `${n.manager}\n${n.key}`))
  useWork(async (signal) => {
    await Promise.all(keys.slice(0, watchesMax).map(async (k) => {
      const of = k.trimEnd()
      if (!of) return
      for await (const event of watch<Schemas['InstanceChange']>('/v1/managers/{manager}/watch', { signal, params: { manager: of } })) {
        if (event.kind === 'instance' && (of === manager || own.current.has(`${of}\n${event.data.key}`))) latest.current()
      }
    }))
  }, [scope.value, keys])
}

/** Browsers open few connections to a node; other managers are polled. */
const watchesMax = 2
