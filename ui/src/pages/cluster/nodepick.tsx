import { nodes } from '../../api/nodes.js'

/** Chooses one node. */
export function NodePick({ value, onValue }: { value: string; onValue: (node: string) => void }) {
  const names = nodes.value.map((n) => n.name).filter(Boolean)
  return (
    <label><span class="hidden">Node</span>
      <select value={value || names[0]} onChange={(e) => onValue(e.currentTarget.value)}>
        {names.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  )
}
