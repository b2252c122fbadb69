import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../api/client.js'
import { may } from '../api/session.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { Action } from '../parts/dialog.js'
import { Card, Facts, PageFrame } from '../parts/page.js'
import { Json } from '../parts/json.js'
import { Empty, Loading, Problem, Shown } from '../parts/states.js'
import { Ago } from '../parts/time.js'
import { LeaseCard } from './session/leasecard.js'
import { Snapshots } from './session/snapshots.js'
import { Turns } from './session/turns.js'

type Session = Schemas['Session']

/** One session: its turns as they were, its lease, and what it waits for. */
export default function SessionPage() {
  const { query } = useLocation()
  const id = query['id'] ?? ''
  const back = { href: href('sessions'), text: 'Sessions' }
  const found = useCall((signal) => api.get('/v1/sessions/{id}', { signal, params: { id } }), [id, scope.value], 2_000)
  const revision = found.data?.revision
  const replay = useCall((signal) => api.get('/v1/sessions/{id}/replay', { signal, params: { id } }), [id, scope.value, revision === undefined ? 0 : 1], 4_000)
  if (!id) return <PageFrame title="Session" back={back}><Empty title="The address names no session" command="dormctl sessions ls" /></PageFrame>
  const session = found.data
  if (!session) return <PageFrame title={id} back={back}>{found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />}</PageFrame>
  return (
    <PageFrame fill title={id} back={back} actions={<Actions session={session} reload={found.reload} />} about={
      <>
        <Badge text={session.recoverable ? 'to recover' : session.status} {...(session.recoverable ? { tone: 'bad' as const } : {})} /> of <a href={href('agent', { id: session.agent_id })}>{session.agent_id}</a> · {session.mode} · updated <Ago at={session.updated_at} />
        {session.lineage && <> · fork of <a href={href('session', { id: session.lineage.session_id })}>{session.lineage.session_id}</a></>}
      </>
    }>
      <div class="split">
        <section class="card timeline" aria-label="Turns">
          <header><h2>Turns</h2><span class="faint side">{session.request_count} kept</span></header>
          <div class="turns" tabIndex={0} role="group" aria-label="Turns, oldest first">
            <Shown of={replay}>{(r) => <Turns replay={r} session={session} />}</Shown>
          </div>
        </section>
        <div class="aside">
          {session.lease && <LeaseCard lease={session.lease} running={session.status === 'running'} />}
          {session.error != null && <Card title="Error"><Json value={session.error} label="Error" /></Card>}
          {session.pending_reviews.length > 0 && (
            <Card title="Waits for">
              <ul class="items">{session.pending_reviews.map((r) => <li key={r.id}><a href={href('reviews', { id: r.id })}>{r.operation || r.id}</a><span class="side"><Ago at={r.created_at} /></span></li>)}</ul>
            </Card>
          )}
          <Details session={session} />
          <Snapshots session={session} />
        </div>
      </div>
    </PageFrame>
  )
}

function Details({ session }: { session: Session }) {
  return (
    <Card title="Session">
      <Facts of={[
        ['Revision', <span class="mono">{session.revision}</span>],
        ['While busy', session.busy],
        ['Queue', `${session.queue_length} of ${session.queue_max}`],
        ['Thread', session.thread ? <a href={href('thread', { id: session.thread })}>{session.thread}</a> : '–'],
        ['Created', <Ago at={session.created_at} />],
      ]} />
      {session.queue.length > 0 && <><h3>Queued</h3><ul class="items">{session.queue.map((q) => <li key={q.id}><span class="clip">{q.id}</span><span class="side">{q.owner_id} <Ago at={q.at} /></span></li>)}</ul></>}
      {Object.keys(session.metadata).length > 0 && <><h3>Metadata</h3><Json value={session.metadata} label="Metadata" /></>}
      {Object.keys(session.environment).length > 0 && <><h3>Environment</h3><Json value={session.environment} label="Environment" open={1} /></>}
      {session.result != null && <><h3>Result</h3><Json value={session.result} label="Result" /></>}
    </Card>
  )
}

const live = ['running', 'waiting', 'hibernated', 'new']

function Actions({ session, reload }: { session: Session; reload: () => void }) {
  const { route } = useLocation()
  const params = { id: session.id }
  return (
    <>
      {may('run') && session.status !== 'running' && session.snapshots.length > 0 && (
        <Action label="Fork" title={`Fork ${session.id}`} fields={[{ name: 'id', label: 'Id of the new session', value: `${session.id}-fork` }]}
          run={async (v) => {
            await api.post('/v1/sessions/{id}/fork', { params, body: { id: v['id']! } })
            route(href('session', { id: v['id'] }))
          }}>
          <p>The new session begins at the newest snapshot. Fork at another one in the list of snapshots.</p>
        </Action>
      )}
      {may('run') && session.recoverable && (
        <Action label="Recover" title={`Recover ${session.id}`} done={reload} fields={[{ name: 'owner', label: 'Owner of the new lease', value: 'console', hint: 'The worker that goes on; the lease lasts 30 s, within which it must renew it' }]}
          run={(v) => api.post('/v1/sessions/{id}/recover', { params, body: { owner_id: v['owner']! } })}>
          <p>The lease of {session.lease?.owner_id ?? 'its owner'} has expired. This gives the turn to another owner, and refuses the writes of the old one.</p>
        </Action>
      )}
      {may('run') && live.includes(session.status) && (
        <Action label="Cancel" title={`Cancel ${session.id}`} danger done={reload} fields={[{ name: 'reason', label: 'Reason', optional: true, hint: 'Stored as the error of the session' }]}
          run={(v) => api.post('/v1/sessions/{id}/cancel', { params, body: v['reason'] ? { reason: v['reason'] } : {} })}>
          <p>This ends its turn, its queue and its reviews.</p>
        </Action>
      )}
    </>
  )
}
