import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { parse } from '../api/exact.js'
import { Problem } from './states.js'

/** A dialog over the page. Escape and the backdrop close it; the browser keeps the focus inside. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    ref.current?.showModal()
  }, [])
  return (
    <dialog ref={ref} aria-label={title} onClose={close} onClick={(e) => e.target === ref.current && close()}>
      <div class="dialog">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

export interface ActionProps {
  /** What the button says. */
  label: string
  title: string
  /** What the action does, in words. */
  children?: ComponentChildren
  /** The text that the person must type; none if absent. */
  typed?: string | undefined
  danger?: boolean | undefined
  /** Further fields. run gets their values by name. */
  fields?: readonly Field[] | undefined
  run: (values: Record<string, string>) => Promise<unknown>
  done?: (() => void) | undefined
  disabled?: boolean
}

export interface Field {
  name: string
  label: string
  value?: string
  hint?: string
  optional?: boolean
  /** The lines of a field for longer text. */
  lines?: number
  /** The values that a person may choose from. */
  choices?: readonly string[]
  /** Values that a button each fills in, by the button's text. */
  examples?: Readonly<Record<string, string>>
}

/** A button that asks before it acts. It shows why an action failed. */
export function Action(props: ActionProps) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" class={props.danger ? 'danger' : ''} disabled={props.disabled} onClick={() => setOpen(true)}>{props.label}</button>
      {open && <Confirm {...props} close={() => setOpen(false)} />}
    </>
  )
}

/** The dialog of an action. */
export function Confirm({ label, title, children, typed, danger, fields = [], run, done, close }: ActionProps & { close: () => void }) {
  const [values, setValues] = useState<Record<string, string>>(Object.fromEntries(fields.map((f) => [f.name, f.value ?? ''])))
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const complete = (typed === undefined || text === typed) && fields.every((f) => f.optional || values[f.name])
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (!complete || busy) return
    setBusy(true)
    setError(undefined)
    try {
      await run(values)
      close()
      done?.()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={(e) => void submit(e)}>
        {children && <div class="prose">{children}</div>}
        {fields.map((f) => <FieldOf key={f.name} of={f} value={values[f.name]!} onValue={(v) => setValues({ ...values, [f.name]: v })} />)}
        {typed !== undefined && (
          <label>
            <span>Type <code>{typed}</code> to confirm</span>
            <input value={text} onInput={(e) => setText(e.currentTarget.value)} spellcheck={false} autocomplete="off" />
          </label>
        )}
        {error !== undefined && <Problem error={error} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class={danger ? 'danger solid' : 'solid'} disabled={!complete || busy}>{busy ? 'Working…' : label}</button>
        </div>
      </form>
    </Dialog>
  )
}

/** A field of an action, with its label, its hint and its examples. */
function FieldOf({ of, value, onValue }: { of: Field; value: string; onValue: (value: string) => void }) {
  const changed = (e: { currentTarget: { value: string } }): void => onValue(e.currentTarget.value)
  return (
    <div class="field">
      <label>
        <span>{of.label}{of.optional && <span class="faint"> (optional)</span>}</span>
        {of.choices
          ? <select value={value} onChange={changed}>{of.choices.map((c) => <option key={c} value={c}>{c}</option>)}</select>
          : of.lines
            ? <textarea class="mono" rows={of.lines} value={value} onInput={changed} spellcheck={false} />
            : <input value={value} onInput={changed} spellcheck={false} autocomplete="off" />}
        {of.hint && <small>{of.hint}</small>}
      </label>
      {of.examples && <p class="examples"><span class="faint">Examples:</span> {Object.entries(of.examples).map(([name, text]) => <button key={name} type="button" class="quiet" onClick={() => onValue(text)}>{name}</button>)}</p>}
    </div>
  )
}

/** Returns the JSON value of a field; undefined for an empty text. It throws an error for people if the text is no JSON. */
export function jsonOf<T>(label: string, text: string | undefined): T | undefined {
  if (!text?.trim()) return undefined
  try {
    return parse(text) as T
  } catch (error) {
    throw new Error(`${label} is not JSON: check quotes, commas and brackets. ${error instanceof Error ? error.message : ''}`)
  }
}
