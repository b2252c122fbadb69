import { useEffect, useRef, useState } from 'preact/hooks'
import { refused, signIn } from '../api/session.js'
import { Command } from '../parts/states.js'
import { Logo } from './icons.js'

/** Asks for a token. */
export function SignIn() {
  const [secret, setSecret] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = 'Sign in · Dormouse'
    input.current?.focus()
  }, [])
  return (
    <main class="alone">
      <form class="signin" onSubmit={(e) => {
        e.preventDefault()
        if (secret.trim()) signIn(secret.trim())
      }}>
        <Logo size={36} />
        <h1>Sign in to Dormouse</h1>
        <label>
          <span>Token</span>
          <input ref={input} type="password" value={secret} onInput={(e) => setSecret(e.currentTarget.value)} autocomplete="off" spellcheck={false} aria-describedby="token-hint" />
        </label>
        {refused.value && <p class="problem" role="alert">The node refused the token: {refused.value}</p>}
        <button type="submit" class="solid" disabled={!secret.trim()}>Sign in</button>
        <p id="token-hint" class="faint">This tab keeps the token until it is closed. To sign in with the token of dormctl, type:</p>
        <Command text="dormctl ui" />
      </form>
    </main>
  )
}
