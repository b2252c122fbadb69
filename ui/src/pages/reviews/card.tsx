import type { Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { href } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { Json } from '../../parts/json.js'
import { Card, Facts } from '../../parts/page.js'
import { Ago } from '../../parts/time.js'
import { Decide, type Lost } from './decide.js'

/** One review: what asks, for what, and its decision. */
export function ReviewCard({ review, changed, onLost }: { review: Schemas['Review']; changed: () => void; onLost: (lost: Lost) => void }) {
  const pending = review.status === 'pending'
  return (
    <Card title={review.operation || 'Review'} side={<Badge text={review.status} />}>
      {review.reason && <p class="review-reason">{review.reason}</p>}
      <Facts of={[
        ['Session', <a href={href('session', { id: review.session_id })}>{review.session_id}</a>],
        ['Asked', <Ago at={review.created_at} />],
        ['Until', <Ago at={review.expires_at} none="no deadline" />],
        ['For', <>{review.assignee ?? 'any person'}{review.escalated && <Badge text="escalated" tone="bad" />}</>],
        ...(review.escalate_at && !review.escalated && pending ? [['Escalates', <><Ago at={review.escalate_at} /> to {review.escalate_to ?? 'another person'}</>] as const] : []),
        ...(review.deciders?.length ? [['Deciders', review.deciders.join(', ')] as const] : []),
        ['Review', <span class="mono">{review.id}</span>],
      ]} />
      {!pending && (
        <Facts of={[
          ['Decided', <Ago at={review.decided_at} none="never" />], ['By', review.decided_by ?? '–'], ...(review.note ? [['Note', review.note] as const] : []),
        ]} />
      )}
      {review.decided && <><h3>Approved with other arguments</h3><Json value={review.decided} label="New arguments" /></>}
      {pending && may('decide')
        ? <Decide review={review} changed={changed} onLost={onLost} />
        : <><h3>Arguments</h3><Json value={review.arguments} label="Arguments" open={4} />{pending && <p class="note">Your token does not include the verb decide in this scope.</p>}</>}
    </Card>
  )
}
