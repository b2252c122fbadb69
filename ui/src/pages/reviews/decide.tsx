import { useState } from 'preact/hooks'
import { RefusedError } from '../../../../sdk/js/src/errors.js'
import { api, type Schemas } from '../../api/client.js'
import { principal } from '../../api/session.js'
import { Problem } from '../../parts/states.js'
import { ArgumentField } from './field.js'
import { argumentsOf, textOf, valueOf } from './form.js'

const nameKey = 'dormouse.name'

/** A decision that was refused because another person had decided first. */
export interface Lost {
  /** The review. */
  id: string
  text: string
}

/** The form of a pending review: its arguments, a note, and the decision. onLost must show its text: the form closes once the review is decided. */
export function Decide({ review, changed, onLost }: { review: Schemas['Review']; changed: () => void; onLost: (lost: Lost) => void }) {
  const fields = argumentsOf(review.arguments, review.metadata)
  const before = Object.fromEntries(fields.map((f) => [f.name, textOf(review.arguments[f.name])]))
  const [texts, setTexts] = useState<Record<string, string>>(before)
  const [note, setNote] = useState('')
  const [by, setBy] = useState(principal.value?.principal || (localStorage.getItem(nameKey) ?? ''))
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const edited = fields.filter((f) => texts[f.name] !== before[f.name])
  const decide = async (decision: 'approve' | 'deny'): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      const body = {
        by, decision: decision === 'approve' && edited.length > 0 ? 'edit' : decision,
        ...(note ? { note } : {}), ...(review.interrupt_id ? { interrupt_id: review.interrupt_id } : {}),
        ...(decision === 'approve' && edited.length > 0 ? { arguments: { ...review.arguments, ...Object.fromEntries(edited.map((f) => [f.name, valueOf(f, texts[f.name]!)])) } } : {}),
      }
      localStorage.setItem(nameKey, by)
      await api.post('/v1/reviews/{review}/decide', { params: { review: review.id }, body })
      changed()
    } catch (failure) {
      const text = lostText(review.id, failure)
      if (text === undefined) {
        setError(failure)
      } else {
        onLost({ id: review.id, text })
        changed()
      }
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="form decide" onSubmit={(e) => {
      e.preventDefault()
      void decide('approve')
    }}>
      <h3>Arguments</h3>
      {fields.length === 0 && <p class="calm">The operation takes none.</p>}
      {fields.map((f) => <ArgumentField key={f.name} of={f} text={texts[f.name]!} changed={texts[f.name] !== before[f.name]} onText={(text) => setTexts({ ...texts, [f.name]: text })} />)}
      <label><span>Note <span class="faint">(optional)</span></span><textarea rows={2} value={note} onInput={(e) => setNote(e.currentTarget.value)} /></label>
      {!principal.value?.principal && <label><span>Your name</span><input value={by} onInput={(e) => setBy(e.currentTarget.value)} autocomplete="name" /></label>}
      {error !== undefined && <Problem error={error} />}
      <div class="buttons">
        {edited.length > 0 && <button type="button" class="quiet" onClick={() => setTexts(before)}>Undo the edits</button>}
        <button type="button" class="danger" disabled={busy || !by} onClick={() => void decide('deny')}>Deny</button>
        <button type="submit" class="solid" disabled={busy || !by}>{edited.length > 0 ? 'Approve with these edits' : 'Approve'}</button>
      </div>
    </form>
  )
}

/** Returns what to tell a person when another one was faster; undefined for other errors. */
function lostText(id: string, failure: unknown): string | undefined {
  if (!(failure instanceof RefusedError) || failure.code !== 'review_already_decided') return undefined
  const { holder, state } = failure.problem
  return `${holder || 'Another person'} was faster: the review ${id} is ${state || 'decided'} already.`
}
