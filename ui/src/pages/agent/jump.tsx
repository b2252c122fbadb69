import { useState } from 'preact/hooks'
import { api } from '../../api/client.js'

/** A field that goes to an entry: by its seq, or by a time such as 14:05 or 2026-11-25 14:05. */
export function Jump({ thread, floor, rev, go }: { thread: string; floor: number; rev: number; go: (seq: number) => void }) {
  const [text, setText] = useState('')
  const [error, setError] = useState('')
  const jump = async (): Promise<void> => {
    setError('')
    const to = text.trim()
    if (/^\d+$/.test(to)) {
      go(Math.min(Math.max(Number(to), floor), rev - 1))
      return
    }
    const at = instantOf(to, new Date())
    if (at === undefined) {
      setError('Type a seq such as 120, or a time such as 14:05')
      return
    }
    const page = await api.get('/v1/threads/{id}/entries', { params: { id: thread }, query: { since: at, limit: 1 } })
    const seq = page.items[0]?.seq ?? page.next
    if (typeof seq === 'number') go(seq)
    else setError('No entry is that new')
  }
  return (
    <form class="jump" onSubmit={(e) => {
      e.preventDefault()
      void jump().catch((failure: unknown) => setError(String(failure)))
    }}>
      <label>
        <span class="hidden">Go to a seq or a time</span>
        <input data-search="" value={text} placeholder="seq or time" onInput={(e) => setText(e.currentTarget.value)} aria-invalid={error ? 'true' : undefined} title={error || 'A seq such as 120, or a time such as 14:05'} spellcheck={false} autocomplete="off" />
      </label>
      {error && <span class="bad-text" role="alert">{error}</span>}
    </form>
  )
}

/** Returns the instant that a person typed, in their zone: a time of today, or a date with a time. */
export function instantOf(text: string, today: Date): number | undefined {
  const time = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text)
  if (time) {
    const at = new Date(today)
    at.setHours(Number(time[1]), Number(time[2]), Number(time[3] ?? 0), 0)
    return at.getTime()
  }
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined
  const at = Date.parse(text.replace(' ', 'T'))
  return Number.isNaN(at) ? undefined : at
}
