import { useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { useCall } from '../../api/use.js'
import { scope } from '../../app/address.js'
import { jsonOf } from '../../parts/dialog.js'
import { Json } from '../../parts/json.js'
import { Card, Facts } from '../../parts/page.js'
import { Problem } from '../../parts/states.js'
import { handlerOf } from './manager.js'

/** The signals of the document handler, with data that each takes. */
const documentSignals: Readonly<Record<string, unknown>> = {
  append: { entries: [{ kind: 'message', payload: { role: 'user', content: 'Hello' } }] },
  patch: { mood: 'calm' },
  turn: { patch: { step: 2 }, entries: [{ kind: 'event', payload: { event: 'stepped' } }] },
  get: {},
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

/** A form that sends a signal and shows the handler's answer. */
export function SignalCard({ of, done }: { of: { manager: string; key: string }; done: () => void }) {
  const manager = useCall((signal) => api.get('/v1/managers/{manager}', { signal, params: { manager: of.manager } }), [scope.value, of.manager])
  const known = manager.data?.handler.kind === 'document' ? documentSignals : {}
  const [type, setType] = useState('')
  const [data, setData] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [reply, setReply] = useState<Schemas['SignalReply'] | undefined>()
  if (!may('run')) return null
  const choose = (name: string): void => {
    setType(name)
    setData(pretty(known[name]))
  }
  const send = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      const body = jsonOf<Record<string, unknown>>('Data', data)
      setReply(await api.post('/v1/managers/{manager}/instances/{key}/signals', { params: of, body: { type, ...(body ? { data: body } : {}) } }))
      done()
    } catch (failure) {
      setReply(undefined)
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Card title="Send a signal" side={manager.data && <span class="faint">handler {handlerOf(manager.data)}</span>}>
      <form class="form" onSubmit={(e) => {
        e.preventDefault()
        void send()
      }}>
        <label><span>Type</span><input value={type} onInput={(e) => setType(e.currentTarget.value)} placeholder="append" spellcheck={false} autocomplete="off" /></label>
        {Object.keys(known).length > 0 && <p class="examples"><span class="faint">Examples:</span> {Object.keys(known).map((name) => <button key={name} type="button" class="quiet" onClick={() => choose(name)}>{name}</button>)}</p>}
        <label><span>Data <span class="faint">(a JSON object)</span></span><textarea class="mono" rows={6} value={data} onInput={(e) => setData(e.currentTarget.value)} placeholder="{}" spellcheck={false} /></label>
        {error !== undefined && <Problem error={error} />}
        <div class="buttons"><button type="submit" class="solid" disabled={!type || busy}>{busy ? 'Waiting…' : 'Send'}</button></div>
      </form>
      {reply && (
        <div role="status" aria-label="Answer">
          <h3>Answer of {reply.node}{!reply.durable && ', not stored yet'}</h3>
          <Facts of={[['Revision', <span class="mono">{reply.revision}</span>], ['Thread', <span class="mono">{reply.rev}</span>]]} />
          {reply.data != null && <Json value={reply.data} label="Answer" open={3} />}
        </div>
      )}
    </Card>
  )
}
