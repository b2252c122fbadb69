import type { Argument } from './form.js'

/** The field of one argument. */
export function ArgumentField({ of, text, changed, onText }: { of: Argument; text: string; changed: boolean; onText: (text: string) => void }) {
  const label = <span>{of.label}{changed && <span class="changed"> edited</span>}</span>
  const hint = of.hint ? <small class="faint">{of.hint}</small> : null
  switch (of.kind) {
    case 'boolean':
      return <label class="check"><input type="checkbox" checked={text === 'true'} onChange={(e) => onText(String(e.currentTarget.checked))} />{label}{hint}</label>
    case 'choice':
      return <label>{label}<select value={text} onChange={(e) => onText(e.currentTarget.value)}>{of.choices.map((c) => <option key={c.text} value={c.text}>{c.text}</option>)}</select>{hint}</label>
    case 'long':
    case 'json':
      return <label>{label}<textarea class={of.kind === 'json' ? 'mono' : ''} rows={of.kind === 'json' ? 4 : 5} value={text} onInput={(e) => onText(e.currentTarget.value)} spellcheck={of.kind === 'long'} />{hint}</label>
    default:
      return <label>{label}<input inputMode={of.kind === 'number' ? 'decimal' : 'text'} value={text} onInput={(e) => onText(e.currentTarget.value)} autocomplete="off" />{hint}</label>
  }
}
