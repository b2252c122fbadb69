import { useEffect } from 'preact/hooks'
import { answerOffer } from '../api/session.js'
import { Logo } from './icons.js'

/** Asks whether to use the token of the address in place of the one that the tab keeps. */
export function Offer() {
  useEffect(() => {
    document.title = 'Another token · Dormouse'
  }, [])
  return (
    <main class="alone">
      <div class="signin">
        <Logo size={36} />
        <h1>Use another token?</h1>
        <p>This tab is signed in. The address that was opened has another token, with which you would act as its principal. Use it only if you have asked for it, such as with <code>dormctl ui</code>.</p>
        <button type="button" class="solid" onClick={() => answerOffer(false)}>Stay signed in</button>
        <button type="button" onClick={() => answerOffer(true)}>Use the other token</button>
      </div>
    </main>
  )
}
