import { useState } from 'preact/hooks'
import { RefusedError } from '../../../../sdk/js/src/errors.js'
import { api, type Schemas } from '../../api/client.js'
import { defaultScope } from '../../app/address.js'
import { Action, Dialog } from '../../parts/dialog.js'
import { Problem } from '../../parts/states.js'
import { groups, read, used, write, type Limit, type Policy } from './limits.js'

const all: readonly Limit[] = groups.flatMap((g) => g.limits)

/** What is edited: the policy of a scope, or the default of all others. */
interface Edited {
  title: string
  policy: Policy
  /** How much the scope uses; absent for the default policy. */
  use?: Schemas['Scope']
  /** Saves a policy in place of the one that was shown. It is refused as a conflict if that is another one by now. */
  save: (policy: Policy, shown: Policy) => Promise<unknown>
}

const changed = 'Another person changed these limits after you opened them. Close this dialog, look at the new ones, and change them again.'

/** The dialog that changes a policy. */
function Form({ of, close, done }: { of: Edited; close: () => void; done: () => void }) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() => Object.fromEntries(all.map((l) => [l.name, write(l, of.policy[l.name])])))
  const [shown] = useState(of.policy) // what the person saw when the dialog opened
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      const policy: Policy = Object.fromEntries(all.map((l) => [l.name, read(l, texts[l.name]!)]))
      await of.save(policy, shown).catch((failure: unknown) => {
        throw failure instanceof RefusedError && failure.code === 'conflict' ? new Error(changed) : failure
      })
      close()
      done()
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <Dialog title={of.title} close={close}>
      <form class="limits" onSubmit={(e) => void submit(e)}>
        {groups.map((g) => (
          <fieldset key={g.title}>
            <legend>{g.title}</legend>
            {g.limits.map((l) => <Line key={l.name} limit={l} text={texts[l.name]!} use={of.use} onText={(text) => setTexts({ ...texts, [l.name]: text })} />)}
          </fieldset>
        ))}
        {error !== undefined && <Problem error={error} />}
        <div class="buttons">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" class="solid" disabled={busy}>{busy ? 'Working…' : 'Save'}</button>
        </div>
      </form>
    </Dialog>
  )
}

/** One limit, with what the scope uses of it. */
function Line({ limit, text, use, onText }: { limit: Limit; text: string; use: Schemas['Scope'] | undefined; onText: (text: string) => void }) {
  const now = use?.[limit.name.replace(/_max$/, '') as 'keys']
  return (
    <label>
      <span>{limit.title}{limit.of && <span class="faint"> {limit.of}</span>}</span>
      <input value={text} placeholder={limit.none} onInput={(e) => onText(e.currentTarget.value)} spellcheck={false} autocomplete="off" />
      <small>{typeof now === 'number' ? (below(limit, text, now) ? <span class="bad-text">uses {used(limit, now)}: writes that add are refused</span> : `uses ${used(limit, now)}`) : ''}</small>
    </label>
  )
}

/** Reports whether a limit is below what the scope uses. */
function below(limit: Limit, text: string, now: number): boolean {
  try {
    const n = read(limit, text)
    return n > 0 && n < now
  } catch {
    return false
  }
}

/** A button that opens the form. */
function Change({ of, done }: { of: Edited; done: () => void }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>Change</button>
      {open && <Form of={of} close={() => setOpen(false)} done={done} />}
    </>
  )
}

/** Changes the policy of a scope, or removes it. */
export function ChangeScope({ scope, done }: { scope: Schemas['Scope']; done: () => void }) {
  const params = { scope: scope.name }
  return (
    <>
      {scope.own_policy && (
        <Action label="Use the default" title={`Remove the policy of ${scope.name}`} done={done} run={() => api.put('/v1/scopes/{scope}', { params, body: { use_default: true } })}>
          <p>The limits of all scopes without a policy of their own apply to {scope.name} from then on.</p>
        </Action>
      )}
      <Change done={done} of={{
        title: `Limits of ${scope.name}`, policy: scope.policy, use: scope,
        save: (policy, shown) => api.put('/v1/scopes/{scope}', { params, body: { ...policy, if_policy: shown } }),
      }} />
    </>
  )
}

/** Changes the policy of the scopes that have none of their own. */
export function ChangeDefault({ policy, done }: { policy: Policy; done: () => void }) {
  return (
    <Change done={done} of={{
      title: 'Limits of scopes without a policy', policy,
      save: (next, shown) => api.put('/v1/default-policy', { scope: defaultScope, body: { ...next, if_policy: shown } }),
    }} />
  )
}
