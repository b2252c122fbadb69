import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { Action } from '../../parts/dialog.js'
import { plural } from '../../parts/format.js'
import { Card } from '../../parts/page.js'
import { Ago } from '../../parts/time.js'

type Shares = Schemas['PlacementShares']
type Pin = Shares['pins'][number]

/** The most pins that are drawn. */
const shown = 100

/** The partitions that are pinned. done is called after a change. */
export function Pins({ shares, done }: { shares: Shares; done: () => void }) {
  const { pins } = shares
  return (
    <Card title="Pins" side={may('cluster:change') && <Move shares={shares} done={done} />}>
      {pins.length === 0
        ? <p class="calm">No partition is pinned: the leader spreads all of them.</p>
        : <ul class="items pins" tabIndex={0}>
            {pins.slice(0, shown).map((p) => (
              <li key={p.partition}>
                <span>partition <span class="mono">{p.partition}</span> on <strong>{p.node}</strong></span>
                <span class="side"><Ago at={p.since} /><Unpin pin={p} done={done} /></span>
              </li>
            ))}
          </ul>}
      {pins.length > shown && <p class="faint">{plural(pins.length, 'partition')} are pinned: dormctl placement ls -o json lists them.</p>}
    </Card>
  )
}

/** Moves a partition to a node: the given one, or one that the person names. */
export function Move({ shares, partition, done }: { shares: Shares; partition?: number; done: () => void }) {
  const nodes = shares.nodes.filter((n) => n.leased && !n.drained_at).map((n) => n.node)
  const node = { name: 'node', label: 'Node', value: nodes[0] ?? '', choices: nodes }
  const fields = partition === undefined ? [{ name: 'partition', label: 'Partition', hint: 'From 0 to 4095. Explain a key to learn its partition.' }, node] : [node]
  return (
    <Action label="Move" title={partition === undefined ? 'Move a partition' : `Move partition ${partition}`} fields={fields} done={done}
      run={(v) => api.put('/v1/placement/partitions/{partition}', { params: { partition: String(partition ?? v['partition']).trim() }, body: { node: v['node']! } })}>
      <p>The partition moves to the node, and stays there until its pin is removed, or the node is drained or leaves. Its instances hibernate, and wake there.</p>
    </Action>
  )
}

/** Removes a pin. */
export function Unpin({ pin, done }: { pin: Pin; done: () => void }) {
  if (!may('cluster:change')) return null
  return (
    <Action label="Remove" title={`Remove the pin of partition ${pin.partition}`} done={done}
      run={() => api.delete('/v1/placement/partitions/{partition}', { params: { partition: String(pin.partition) } })}>
      <p>The partition stays on {pin.node} until the leader moves it for balance.</p>
    </Action>
  )
}
