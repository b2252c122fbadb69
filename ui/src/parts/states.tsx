import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { codeOf, detailOf } from '../api/client.js'
import type { Loaded } from '../api/use.js'
import { defaultScope, scope } from '../app/address.js'
import { quoted } from './format.js'

/** Returns a command of dormctl for the scope of the page. */
const inScope = (command: string): string => (scope.value === defaultScope || !command.includes('dormctl ') || command.includes('--scope') ? command : `${command} --scope ${quoted(scope.value)}`)

/** Says that there is nothing, and which command changes that. */
export function Empty({ title, children, command }: { title: string; children?: ComponentChildren; command?: string }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children && <p>{children}</p>}
      {command && <Command text={inScope(command)} />}
    </div>
  )
}

/** Shows a command, with a button that copies it. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 1500)
    })
  }
  return (
    <div class="command">
      <code tabIndex={0}>{text}</code>
      <button type="button" class="quiet" onClick={copy} aria-label="Copy the command">{copied ? 'Copied' : 'Copy'}</button>
    </div>
  )
}

/** Shows that something loads, after a moment: a fast answer makes no flicker. */
export function Loading({ rows = 6 }: { rows?: number }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 120)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="loading" role="status" aria-label="Loading">
      {late && Array.from({ length: rows }, (_, i) => <div key={i} class="bone" />)}
    </div>
  )
}

/** Shows an error with the detail of its problem document. */
export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  const code = codeOf(error)
  return (
    <div class="problem" role="alert">
      <p><strong>{code === 'forbidden' ? 'You may not see this' : code === 'not_found' ? 'Not found' : 'The call failed'}</strong>{code && <code>{code}</code>}</p>
      <p>{detailOf(error)}</p>
      {retry && code !== 'forbidden' && <button type="button" onClick={retry}>Try again</button>}
    </div>
  )
}

/** Shows what a call found; until then that it loads, or why it failed. Older data stays beside an error. */
export function Shown<T>({ of, children, rows }: { of: Loaded<T>; children: (data: T) => ComponentChildren; rows?: number }) {
  if (of.data === undefined) return of.error ? <Problem error={of.error} retry={of.reload} /> : <Loading {...(rows ? { rows } : {})} />
  return <>{of.error ? <Problem error={of.error} retry={of.reload} /> : null}{children(of.data)}</>
}
