import { useState } from 'preact/hooks'
import { api, codeOf, detailOf } from '../../api/client.js'

/** The result of a verification. */
interface Result {
  good: boolean
  text: string
}

/** Verifies the hash chain of a thread, and the pointer of the agent's checkpoint into it, and says what it found. */
export function Verify({ agent, thread, rev }: { agent?: string; thread: string; rev: number }) {
  const [result, setResult] = useState<Result & { rev: number } | undefined>()
  const [busy, setBusy] = useState(false)
  const run = async (): Promise<void> => {
    setBusy(true)
    try {
      setResult({ ...(await verify(agent, thread)), rev })
    } finally {
      setBusy(false)
    }
  }
  return (
    <span class="verify" role="status">
      {result && <span class={result.good ? 'good-text' : 'bad-text'}>{result.text}</span>}
      <button type="button" class="quiet" disabled={busy} onClick={() => void run()}>{busy ? 'Verifying…' : result ? 'Verify again' : 'Verify'}</button>
    </span>
  )
}

async function verify(agent: string | undefined, thread: string): Promise<Result> {
  try {
    const chain = await api.get('/v1/threads/{id}/verify', { params: { id: thread } })
    if (!chain.ok) return { good: false, text: `The chain is broken: ${chain.why ?? 'no reason given'}` }
    if (agent === undefined) return { good: true, text: `The chain holds at rev ${chain.rev}, head ${chain.head.slice(0, 8)}` }
    await api.get('/v1/agents/{key}/thaw', { params: { key: agent }, query: { tail: 1 } })
    return { good: true, text: `Chain and pointer hold at rev ${chain.rev}, head ${chain.head.slice(0, 8)}` }
  } catch (error) {
    if (codeOf(error) === 'thaw_failed') return { good: false, text: `The pointer does not hold: ${detailOf(error)}` }
    return { good: false, text: detailOf(error) }
  }
}
