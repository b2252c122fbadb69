import { useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { save } from '../files/save.js'
import { Problem } from '../../parts/states.js'

/** Downloads a conversation with all its messages as JSON. */
export function Download({ id }: { id: string }) {
  const [read, setRead] = useState<number | undefined>()
  const [error, setError] = useState<unknown>()
  const run = async (): Promise<void> => {
    setError(undefined)
    setRead(0)
    try {
      const conversation = await api.get('/v1/conversations/{id}', { exact: true, params: { id } })
      const messages: Schemas['Message'][] = []
      for (let from: number | null = 0; from !== null;) {
        const page: Schemas['MessagePage'] = await api.get('/v1/conversations/{id}/messages', { exact: true, params: { id }, query: { from, limit: 1_000 } })
        messages.push(...page.items)
        setRead(messages.length)
        from = page.next
      }
      save(`${id.replace(/[^\w.-]+/g, '_')}.json`, 'application/json', JSON.stringify({ conversation, messages }, null, 2))
    } catch (failure) {
      setError(failure)
    } finally {
      setRead(undefined)
    }
  }
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <button type="button" disabled={read !== undefined} onClick={() => void run()}>{read === undefined ? 'Download' : `${read} messages…`}</button>
    </>
  )
}
