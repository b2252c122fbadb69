import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { Action } from '../../parts/dialog.js'

interface Ref {
  manager: string
  key: string
}

/** The attachment that the console makes unless a person names another. */
const ownAttachment = 'console'

/** What a person may do with an instance. status is undefined if there is none. */
export function InstanceActions({ of: params, status, reload }: { of: Ref; status: Schemas['Instance']['status'] | undefined; reload: () => void }) {
  if (!may('run')) return null
  const awake = status === 'awake' || status === 'waking'
  const of = { manager: params.manager, key: params.key }
  return (
    <>
      {!awake && (
        <Action label="Wake" title={`Wake ${of.key}`} done={reload} run={() => api.post('/v1/managers/{manager}/instances/{key}', { params: of, body: {} })}>
          <p>Its owner loads the instance from its checkpoint, or starts it if it has none.</p>
        </Action>
      )}
      <Action label="Attach" title={`Attach to ${of.key}`} done={reload} fields={[
        { name: 'attachment', label: 'Attachment', value: ownAttachment },
        { name: 'seconds', label: 'Ends after, in seconds', value: '300', hint: 'Attach again under the same name to renew it' },
      ]} run={(v) => api.post('/v1/managers/{manager}/instances/{key}/attach', { params: of, body: { attachment: v['attachment']!, ttl_ms: seconds(v['seconds']!) * 1000 } })}>
        <p>An attachment wakes the instance, and keeps it awake until it ends.</p>
      </Action>
      {status && (
        <Action label="Detach" title={`Detach from ${of.key}`} done={reload} fields={[{ name: 'attachment', label: 'Attachment', value: ownAttachment }]}
          run={(v) => api.post('/v1/managers/{manager}/instances/{key}/detach', { params: of, body: { attachment: v['attachment']! } })}>
          <p>Without an attachment the instance hibernates after its idle timeout.</p>
        </Action>
      )}
      {awake && (
        <>
          <Action label="Hibernate" title={`Hibernate ${of.key}`} done={reload} run={() => api.post('/v1/managers/{manager}/instances/{key}/hibernate', { params: of })}>
            <p>Its owner stores the instance and frees its memory. All attachments end. The next signal wakes it.</p>
          </Action>
          <Action label="Stop" title={`Stop ${of.key}`} danger done={reload} run={() => api.delete('/v1/managers/{manager}/instances/{key}', { params: of })}>
            <p>Its owner handles the calls in the mailbox, stores the instance and ends it. What is stored stays. The next call starts it again.</p>
          </Action>
        </>
      )}
    </>
  )
}

function seconds(text: string): number {
  const n = Number(text)
  if (!Number.isInteger(n) || n <= 0) throw new Error(`“${text}” is no number of seconds: type a whole number such as 300`)
  return n
}
