import { useEffect, useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { useCall } from '../../api/use.js'
import { scope } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { Card, Facts } from '../../parts/page.js'
import { Shown } from '../../parts/states.js'
import { Ago } from '../../parts/time.js'
import { Changes } from './changes.js'
import { Move, Unpin } from './pins.js'

/** Explains why the instance of a key is where it is. */
export function Explain({ manager, name, shares, onAsk }: { manager: string; name: string; shares: Schemas['PlacementShares'] | undefined; onAsk: (manager: string, key: string) => void }) {
  const [m, setManager] = useState(manager)
  const [k, setKey] = useState(name)
  useEffect(() => {
    setManager(manager)
    setKey(name)
  }, [manager, name])
  return (
    <Card title="Explain a key">
      <form class="form inline" onSubmit={(e) => {
        e.preventDefault()
        if (m && k) onAsk(m, k)
      }}>
        <label><span>Manager</span><input data-search="" value={m} onInput={(e) => setManager(e.currentTarget.value)} placeholder="chats" spellcheck={false} autocomplete="off" /></label>
        <label><span>Key</span><input value={k} onInput={(e) => setKey(e.currentTarget.value)} placeholder="room-1" spellcheck={false} autocomplete="off" /></label>
        <button type="submit" class="solid" disabled={!m || !k}>Explain</button>
      </form>
      {manager && name && <Explained manager={manager} name={name} shares={shares} />}
    </Card>
  )
}

function Explained({ manager, name, shares }: { manager: string; name: string; shares: Schemas['PlacementShares'] | undefined }) {
  const found = useCall((signal) => api.get('/v1/placement/{manager}/{key}', { signal, params: { manager, key: name } }), [manager, name, scope.value], 3_000)
  return (
    <Shown of={found} rows={3}>{(p) => (
      <div class="explained">
        <Facts of={[
          ['Partition', <span class="mono">{p.partition}</span>],
          ['Owner', p.owner ? <strong>{p.owner}</strong> : <span class="bad-text">none</span>],
          ['State', <><Badge text={p.state} />{p.to && ` to ${p.to}`}</>],
          ['Epoch', <span class="mono">{p.epoch}</span>],
          ['Since', <><Ago at={p.since} />: {p.why}</>],
          ['Pinned to', p.pin
            ? <span class="with-action"><strong>{p.pin.node}</strong> <Unpin pin={p.pin} done={found.reload} /></span>
            : <span class="with-action"><span class="faint">none</span> {shares && may('cluster:change') && <Move shares={shares} partition={p.partition} done={found.reload} />}</span>],
        ]} />
        <h3>Candidates, best first</h3>
        <Candidates of={p} />
        <h3>Changes of its owner</h3>
        <Changes ofOne events={p.events} none="None is kept: the owner is older than the history." />
      </div>
    )}</Shown>
  )
}

function Candidates({ of }: { of: Schemas['PlacementAnswer'] }) {
  const most = Math.max(...of.candidates.map((c) => c.score), 1e-9)
  return (
    <ul class="scores">
      {of.candidates.map((c) => (
        <li key={c.node}>
          <span>{c.node === of.owner ? <strong>{c.node}</strong> : c.node}{c.zone && <span class="faint"> {c.zone}</span>}{c.drained && <span class="faint"> drained</span>}</span>
          <span class="score" aria-hidden="true"><span style={{ width: `${Math.max(2, (c.score / most) * 100)}%` }} /></span>
          <span class="mono faint">{c.score.toFixed(c.score < 10 ? 3 : 0)} × {c.weight}</span>
        </li>
      ))}
    </ul>
  )
}
