import { useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.js'
import { may, principal, type Verb } from '../../api/session.js'
import { scope } from '../../app/address.js'
import { Dialog } from '../../parts/dialog.js'
import { Problem } from '../../parts/states.js'
import { createToken } from './create.js'

const ofScopes: readonly [Verb, string][] = [
  ['read', 'reads and watches'], ['write', 'values, checkpoints, threads, conversations, memories'], ['run', 'claims, sessions, managers, instances, timers'],
  ['decide', 'reviews'], ['admin', 'erase an agent; delete, export or import a scope'],
]
const ofCluster: readonly [Verb, string][] = [
  ['cluster:read', 'status and placement'], ['cluster:change', 'members, settings, audit log'], ['cluster:backup', 'backups'], ['scopes:policy', 'quotas'], ['tokens:change', 'tokens'],
]
const dayMs = 86_400_000
const ends = [['', 'never'], [String(dayMs), 'in a day'], [String(30 * dayMs), 'in 30 days'], [String(365 * dayMs), 'in a year']] as const

/** Reports whether the person has the verb anywhere: a token can give no more than its creator has. */
const has = (verb: Verb): boolean => may(verb) || (principal.value?.grants ?? []).some((g) => (g.verbs ?? []).includes(verb))

/** The dialog that creates a token. */
export function NewToken({ close, made }: { close: () => void; made: (token: Schemas['CreatedToken']) => void }) {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState(scope.value)
  const [verbs, setVerbs] = useState<ReadonlySet<Verb>>(new Set(['read']))
  const [ttl, setTtl] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const within = ofScopes.filter(([v]) => verbs.has(v)).map(([v]) => v)
  const about = ofCluster.filter(([v]) => verbs.has(v)).map(([v]) => v)
  const names = scopes.split(/[\s,]+/).filter(Boolean)
  const complete = name !== '' && (within.length > 0 || about.length > 0) && (within.length === 0 || names.length > 0)
  const submit = async (e: Event): Promise<void> => {
    e.preventDefault()
    if (!complete || busy) return
    setBusy(true)
    setError(undefined)
    try {
      const grants = [...(within.length ? [{ scopes: names, verbs: within }] : []), ...(about.length ? [{ verbs: about }] : [])]
      made(await createToken({ principal: name, grants, ...(ttl ? { ttl_ms: Number(ttl) } : {}) }))
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const toggle = (verb: Verb): void => {
    const next = new Set(verbs)
    if (!next.delete(verb)) next.add(verb)
    setVerbs(next)
  }
  const boxes = (of: readonly [Verb, string][]) => of.map(([verb, what]) => (
    <label key={verb} class="check"><input type="checkbox" checked={verbs.has(verb)} disabled={!has(verb)} onChange={() => toggle(verb)} /> <span><code>{verb}</code> <span class="faint">{what}</span></span></label>
  ))
  return (
    <Dialog title="Create a token" close={close}>
      <form onSubmit={(e) => void submit(e)}>
        <label><span>Principal</span><input value={name} onInput={(e) => setName(e.currentTarget.value)} placeholder="ci" spellcheck={false} autocomplete="off" /><small>The name of the caller, as the audit log and the changes show it</small></label>
        <fieldset><legend>In scopes</legend>{boxes(ofScopes)}</fieldset>
        <label><span>Scopes</span><input value={scopes} onInput={(e) => setScopes(e.currentTarget.value)} spellcheck={false} autocomplete="off" /><small>Names, or prefixes such as team-*; * means all</small></label>
        <fieldset><legend>In the cluster</legend>{boxes(ofCluster)}</fieldset>
        <label><span>Ends</span><select value={ttl} onChange={(e) => setTtl(e.currentTarget.value)}>{ends.map(([value, text]) => <option key={value} value={value}>{text}</option>)}</select></label>
        {error !== undefined && <Problem error={error} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class="solid" disabled={!complete || busy}>{busy ? 'Working…' : 'Create'}</button>
        </div>
      </form>
    </Dialog>
  )
}
