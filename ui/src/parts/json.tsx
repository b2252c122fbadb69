import { useState } from 'preact/hooks'
import { isNumber } from '../api/exact.js'
import { line } from './format.js'

/** The members and elements beyond this number are shown on demand. */
const shownMax = 50

/** The characters of a folded value. */
const foldedMax = 60

/** Shows a JSON value as a tree whose branches fold. */
export function Json({ value, open = 2, label }: { value: unknown; open?: number; label?: string }) {
  return <div class="json mono" tabIndex={0} role="group" aria-label={label ?? 'JSON'}><Root value={value} open={open} /></div>
}

/** The members of an object are shown without the object around them. */
function Root({ value, open }: { value: unknown; open: number }) {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || Object.keys(value).length === 0) return <Branch value={value} depth={0} open={open} />
  return <Members of={Object.entries(value)} depth={0} open={open} />
}

function Members({ of, depth, open }: { of: [string, unknown][]; depth: number; open: number }) {
  const [all, setAll] = useState(false)
  const shown = all ? of : of.slice(0, shownMax)
  return (
    <>
      {shown.map(([k, v]) => <Branch key={k} name={k} value={v} depth={depth + 1} open={open} />)}
      {shown.length < of.length && <button type="button" class="quiet" onClick={() => setAll(true)}>{of.length - shown.length} more</button>}
    </>
  )
}

function Branch({ name, value, depth, open }: { name?: string; value: unknown; depth: number; open: number }) {
  const key = name === undefined ? null : <span class="json-key">{name}: </span>
  if (value === null || typeof value !== 'object' || isNumber(value)) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return <div class="json-leaf">{key}<span class={`json-${value === null ? 'null' : isNumber(value) ? 'number' : typeof value}`}>{text}</span></div>
  }
  const members: [string, unknown][] = Array.isArray(value) ? value.map((v, i) => [String(i), v]) : Object.entries(value)
  const [left, right] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (members.length === 0) return <div class="json-leaf">{key}<span class="json-null">{left}{right}</span></div>
  const text = line(value, 80)
  const folded = text.length <= foldedMax ? text : `${left}${text.slice(1, foldedMax)}…${right}`
  return (
    <details open={depth < open}>
      <summary>{key}<span class="json-fold">{folded}</span><span class="json-count">{members.length}</span></summary>
      <div class="json-members">
        <Members of={members} depth={depth} open={open} />
      </div>
    </details>
  )
}
