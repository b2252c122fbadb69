import { computed, signal } from '@preact/signals'
import { scope } from '../app/address.js'
import type { Schemas } from './client.js'
import { decide } from './offered.js'

const key = 'dormouse.token'

const first = decide(take(), sessionStorage.getItem(key) ?? undefined)
if (first.use) sessionStorage.setItem(key, first.use)

/** The token that the person signed in with; kept until the browser's tab is closed. */
export const token = signal(first.use)

/** A token in the address of a tab that keeps another one. It is used only if the person accepts it. */
export const offered = signal(first.offered)

/** The principal behind the token, once a node has named it. */
export const principal = signal<Schemas['Principal'] | undefined>(undefined)

/** Why a person must sign in again. */
export const refused = signal('')

/** Takes the token from the fragment of the address, which browsers do not send, and removes it there. */
function take(): string | undefined {
  const found = new URLSearchParams(location.hash.slice(1)).get('token')
  if (!found) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return found
}

export function signIn(secret: string): void {
  sessionStorage.setItem(key, secret)
  refused.value = ''
  token.value = secret
}

/** Uses the token that is offered, or forgets it. */
export function answerOffer(accept: boolean): void {
  const other = offered.value
  offered.value = undefined
  if (!accept || !other) return
  principal.value = undefined
  signIn(other)
}

export function signOut(): void {
  sessionStorage.removeItem(key)
  principal.value = undefined
  token.value = undefined
}

/** Forgets a token that a node refused. */
export function expired(detail: string): void {
  if (!token.value) return
  refused.value = detail
  signOut()
}

/** The verbs of grants. Those with a colon are about the cluster, and need no scope. */
export type Verb = 'read' | 'write' | 'run' | 'decide' | 'admin' | 'cluster:read' | 'cluster:change' | 'cluster:backup' | 'scopes:policy' | 'tokens:change'

const matches = (pattern: string, name: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name

const verbs = computed(() => {
  const who = principal.value
  if (!who) return new Set<string>()
  const all = new Set<string>()
  for (const grant of who.grants) {
    for (const verb of grant.verbs ?? []) {
      if (verb.includes(':') || (grant.scopes ?? []).some((s) => matches(s, scope.value))) all.add(verb)
    }
  }
  return all
})

/** Reports whether the person may do it in the present scope. The server checks it again. */
export const may = (verb: Verb): boolean => principal.value?.auth === 'off' || verbs.value.has(verb)
