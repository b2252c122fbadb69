import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { PageFrame } from '../parts/page.js'
import { FilterField } from '../parts/search.js'
import { Empty, Loading, Problem, Shown } from '../parts/states.js'
import { usePages, type Pages } from '../parts/table.js'
import { Ago } from '../parts/time.js'
import { Virtual } from '../parts/virtual.js'
import { ReviewCard } from './reviews/card.js'
import type { Lost } from './reviews/decide.js'

type Review = Schemas['Review']

const rowHeight = 58
const statuses = ['pending', 'approved', 'edited', 'denied', 'expired', 'withdrawn']

/** An inbox: the operations that wait for a person, and the decision of one. */
export default function Reviews() {
  const { query, route } = useLocation()
  const status = query['status'] || 'pending'
  const assignee = query['assignee'] ?? ''
  const pages = usePages<Review>((after, signal) => api.get('/v1/reviews', { signal, query: { limit: 200, status, ...(assignee ? { assignee } : {}), ...(after ? { after } : {}) } }), [scope.value, status, assignee])
  const [lost, setLost] = useState<Lost | undefined>()
  // The review of a lost race stays open: the list no longer has it, and the next one would look like a success.
  const id = query['id'] || lost?.id || pages.rows[0]?.id || ''
  const show = (change: Record<string, string>): void => {
    setLost(undefined)
    route(href('reviews', { status, assignee, id: query['id'], ...change }), true)
  }
  return (
    <PageFrame fill title="Reviews" about="An agent waits for a decision before it acts. Each review is decided once." actions={
      <div class="filters">
        <label><span class="hidden">Status</span><select value={status} onChange={(e) => show({ status: e.currentTarget.value, id: '' })}>{statuses.map((s) => <option key={s} value={s}>{s}</option>)}</select></label>
        <FilterField search label="Assignee" value={assignee} onValue={(to) => show({ assignee: to, id: '' })} placeholder="assignee" />
      </div>
    }>
      <div class="inbox">
        <section class="card flush timeline" aria-label="Inbox" style={{ '--rows': pages.rows.length || 4 }}><Inbox pages={pages} status={status} current={id} onOpen={(review) => show({ id: review })} /></section>
        <div class="aside">
          {lost && <LostRace of={lost} close={() => setLost(undefined)} />}
          {id && <Opened id={id} decided={pages.reload} onLost={setLost} />}
        </div>
      </div>
    </PageFrame>
  )
}

function Inbox({ pages, status, current, onOpen }: { pages: Pages<Review>; status: string; current: string; onOpen: (id: string) => void }) {
  if (pages.rows.length === 0) {
    if (pages.error) return <Problem error={pages.error} retry={pages.reload} />
    if (pages.loading) return <Loading />
    return status === 'pending'
      ? <Empty title="Nothing waits for you" command="dormctl reviews ls">A review appears here when an agent asks for a decision.</Empty>
      : <Empty title={`No review is ${status}`} />
  }
  return (
    <div class="timeline-rows">
      <Virtual count={pages.rows.length} rowHeight={rowHeight} label="Reviews" onRange={(_first, last) => last > pages.rows.length - 40 && pages.loadMore()} row={(i, style) => {
        const r = pages.rows[i]!
        return (
          <div key={r.id} role="listitem" class={`inbox-row drawn${r.id === current ? ' selected' : ''}`} style={style}>
            <button type="button" onClick={() => onOpen(r.id)} aria-current={r.id === current ? 'true' : undefined}>
              <span><strong>{r.operation || r.id}</strong><span class="faint"><Ago at={r.created_at} /></span></span>
              <span class="faint"><span class="clip">{r.session_id}{r.assignee && ` · for ${r.assignee}`}{r.reason && ` · ${r.reason}`}</span>{r.status !== 'pending' ? <Badge text={r.status} /> : r.expires_at ? <span>due <Ago at={r.expires_at} /></span> : null}</span>
            </button>
          </div>
        )
      }} />
    </div>
  )
}

/** Says that another person has decided first. */
function LostRace({ of, close }: { of: Lost; close: () => void }) {
  return (
    <div class="problem" role="alert">
      <p><strong>Your decision was not applied</strong></p>
      <p>{of.text}</p>
      <button type="button" onClick={close}>Close</button>
    </div>
  )
}

function Opened({ id, decided, onLost }: { id: string; decided: () => void; onLost: (lost: Lost) => void }) {
  const found = useCall((signal) => api.get('/v1/reviews/{review}', { signal, exact: true, params: { review: id } }), [id, scope.value], 5_000)
  return <Shown of={found}>{(review) => (
    <ReviewCard key={review.id} review={review} onLost={onLost} changed={() => {
      found.reload()
      decided()
    }} />
  )}</Shown>
}
