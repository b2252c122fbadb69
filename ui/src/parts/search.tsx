import { useEffect, useRef, useState } from 'preact/hooks'

/** How long a person may pause while typing. */
const pauseMs = 200

/**
 * Keeps what a person types into a field, and returns the text, a function that sets it, and one that calls
 * onValue. Only a value that the field did not send replaces the text: pages are drawn while people type.
 */
function useTyped(value: string, onValue: (value: string) => void): [string, (typed: string) => void, (typed: string) => void] {
  const [text, setText] = useState(value)
  const known = useRef(value)
  useEffect(() => {
    if (value === known.current) return
    known.current = value
    setText(value)
  }, [value])
  return [text, setText, (typed) => {
    known.current = typed
    onValue(typed)
  }]
}

interface FieldProps {
  label: string
  value: string
  onValue: (value: string) => void
  placeholder?: string
}

/** A field for searching; the key / leads to it. onValue gets the text after a pause. */
export function Search({ label, value, onValue, placeholder }: FieldProps) {
  const [text, setText, send] = useTyped(value, onValue)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <input type="search" data-search="" value={text} placeholder={placeholder ?? `${label}…`} spellcheck={false} autocomplete="off" onInput={(e) => {
        const typed = e.currentTarget.value
        setText(typed)
        clearTimeout(timer.current)
        timer.current = setTimeout(() => send(typed), pauseMs)
      }} />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}

/** A field of a filter. onValue gets the text when Enter is pressed or the field is left; search lets the key / lead to it. */
export function FilterField({ label, value, onValue, placeholder, search }: FieldProps & { search?: boolean }) {
  const [text, setText, send] = useTyped(value, onValue)
  return (
    <label>
      <span class="hidden">{label}</span>
      <input data-search={search ? '' : undefined} value={text} placeholder={placeholder} spellcheck={false} autocomplete="off"
        onInput={(e) => setText(e.currentTarget.value)} onChange={(e) => send(e.currentTarget.value)} />
    </label>
  )
}
