import { LocationProvider } from 'preact-iso/router'
import { api, codeOf } from '../api/client.js'
import { offered, principal, refused, token } from '../api/session.js'
import { useCall } from '../api/use.js'
import { Problem } from '../parts/states.js'
import { base } from './address.js'
import { Offer } from './offer.js'
import { Shell } from './shell.js'
import { SignIn } from './signin.js'
import './theme.js'

/** The console: the page for signing in, the question about another token, or the shell with the other pages. */
export function App() {
  const who = useCall(async (signal) => {
    principal.value = await api.get('/v1/whoami', { signal, timeoutMs: 15_000 })
    return true
  }, [token.value])
  if (offered.value) return <Offer />
  if (codeOf(who.error) === 'unauthenticated' || (refused.value && !token.value)) return <SignIn />
  if (who.error) return <main class="alone"><Problem error={who.error} retry={who.reload} /></main>
  if (!who.data || !principal.value) return null // the frame of index.html stays
  return <LocationProvider scope={base}><Shell /></LocationProvider>
}
