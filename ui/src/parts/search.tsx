import { useEffect, useRef, useState } from 'preact/hooks'

/** How long a person may pause while typing. */
const pauseMs = 200

/** A field for searching; the key / leads to it. onValue gets the text after a pause. */
export function Search({ label, value, onValue, placeholder }: { label: string; value: string; onValue: (value: string) => void; placeholder?: string }) {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  // The last value that this field sent or was given: only another one replaces what is typed meanwhile.
  const known = useRef(value)
  useEffect(() => {
    if (value === known.current) return
    known.current = value
    setText(value)
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <input type="search" data-search="" value={text} placeholder={placeholder ?? `${label}…`} spellcheck={false} autocomplete="off" onInput={(e) => {
        const typed = e.currentTarget.value
        setText(typed)
        clearTimeout(timer.current)
        timer.current = setTimeout(() => {
          known.current = typed
          onValue(typed)
        }, pauseMs)
      }} />
      <kbd aria-hidden="true">/</kbd>
    </label>
  )
}
