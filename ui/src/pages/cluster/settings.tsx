import { useLocation } from 'preact-iso/router'
import { askAll } from '../../api/ask.js'
import type { Schemas } from '../../api/client.js'
import { useCall } from '../../api/use.js'
import { href } from '../../app/address.js'
import { nodes } from '../../api/nodes.js'
import { Badge } from '../../parts/badge.js'
import { plural } from '../../parts/format.js'
import { Search } from '../../parts/search.js'
import { Empty, Problem, Shown } from '../../parts/states.js'
import { Silent } from './silent.js'

/** A setting as the nodes have it. */
interface Row {
  name: string
  default: string
  /** The nodes by their value. */
  values: Map<string, string[]>
  changed: boolean
}

/** Settings that differ from node to node in every cluster. */
const own = /(^|\.)(node_id|addr|advertise|data_dir|dir|zone|cert_file|key_file)$/

/** The settings in force on all nodes: those that were changed come first, and differences are shown. */
export function Settings() {
  const { query, route } = useLocation()
  const word = query['filter'] ?? ''
  const found = useCall((signal) => askAll<Schemas['Settings']>('/v1/cluster/settings', signal), [nodes.value.length])
  return (
    <Shown of={found}>{(all) => {
      const told = all.filter((t) => t.data !== undefined)
      if (told.length === 0) return <Problem error={all[0]?.error ?? new Error('No node answers.')} retry={found.reload} />
      const rows = merge(all)
      const changed = rows.filter((r) => r.changed).length
      const shown = rows.filter((r) => word === '' || `${r.name} ${[...r.values.keys()].join(' ')}`.toLowerCase().includes(word.toLowerCase()))
      return (
        <section class="card flush settings" aria-label="Settings">
          <header>
            <h2>{plural(changed, 'setting')} changed of {rows.length}<span class="faint"> on {told.map((t) => t.node).join(', ')}</span></h2>
            <div class="side"><Search label="Settings with" value={word} onValue={(v) => route(href('cluster', { tab: 'settings', filter: v }), true)} /></div>
          </header>
          <div class="scroll" tabIndex={0} role="group" aria-label="Settings, the changed ones first">
            {shown.length === 0 ? <Empty title={`No setting has “${word}” in its name or its value`} /> : <SettingsTable rows={shown} nodes={told.length} />}
          </div>
          <footer><span>Secrets are in files, and not in settings. <code>docs/settings.md</code> explains each.</span></footer>
          <Silent of={all} />
        </section>
      )
    }}</Shown>
  )
}

function SettingsTable({ rows, nodes: count }: { rows: readonly Row[]; nodes: number }) {
  return (
    <table class="sheet">
      <thead><tr><th scope="col">Setting</th><th scope="col">In force</th><th scope="col" class="wide">Default</th></tr></thead>
      <tbody>
        {rows.map((r) => (
          <tr key={r.name} class={r.changed ? 'changed-row' : ''}>
            <th scope="row" class="mono">{r.name}</th>
            <td>
              {[...r.values].map(([value, names]) => (
                <div key={value}><span class="mono">{value || <span class="faint">empty</span>}</span>{names.length < count && <span class="faint"> {names.join(', ')}</span>}</div>
              ))}
              {r.values.size > 1 && !own.test(r.name) && <Badge text="nodes differ" tone="warn" />}
            </td>
            <td class="wide mono faint">{r.changed ? r.default || 'empty' : ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Merges the settings of the nodes: the changed ones first, each part by name. */
function merge(all: readonly { node: string; data: Schemas['Settings'] | undefined }[]): Row[] {
  const rows = new Map<string, Row>()
  for (const { node, data } of all) {
    for (const s of data?.settings ?? []) {
      let row = rows.get(s.name)
      if (!row) rows.set(s.name, (row = { name: s.name, default: s.default, values: new Map(), changed: false }))
      row.values.set(s.value, [...(row.values.get(s.value) ?? []), node])
      row.changed ||= s.value !== s.default
    }
  }
  return [...rows.values()].sort((a, b) => Number(b.changed) - Number(a.changed) || (a.name < b.name ? -1 : 1))
}
