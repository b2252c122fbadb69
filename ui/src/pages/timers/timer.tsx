import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { href } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { Action } from '../../parts/dialog.js'
import { plural } from '../../parts/format.js'
import { Json } from '../../parts/json.js'
import { Card, Facts } from '../../parts/page.js'
import { Ago, exactly } from '../../parts/time.js'
import { stateOf } from '../timers.js'
import type { Reader } from './cron.js'

type Timer = Schemas['Timer']

const attemptsMax = 16
const shownInstants = 5

/** Returns what sets a timer again as it is. */
function bodyOf(t: Timer): Schemas['TimerBody'] {
  return {
    ...(t.cron ? { cron: t.cron, ...(t.time_zone ? { time_zone: t.time_zone } : {}) } : { at: t.next || Date.now() }),
    type: t.type, missed: t.missed as 'skip', ...(t.data ? { data: t.data } : {}), ...(t.catch_up ? { catch_up: t.catch_up } : {}),
  }
}

/** One timer: when it fires, what it sends, and why it failed. */
export function TimerCard({ of: t, cron, reload }: { of: Timer; cron: Reader | undefined; reload: () => void }) {
  const state = stateOf(t)
  const params = { manager: t.manager, key: t.key, timer: t.id }
  const instance = { manager: t.manager, key: t.key }
  return (
    <Card title={t.id} side={
      <>
        <Badge text={state} />
        {may('run') && state !== 'set' && (
          <Action label="Retry" title={`Retry ${t.id}`} done={reload} run={() => api.put('/v1/managers/{manager}/instances/{key}/timers/{timer}', { params, body: bodyOf(t) })}>
            <p>The timer is set again as it is, and its failed attempts are forgotten. {t.cron ? 'It fires at its next instant.' : 'It fires at once.'}</p>
          </Action>
        )}
        {may('run') && (
          <Action label="Cancel" title={`Cancel ${t.id}`} danger done={reload} run={() => api.delete('/v1/managers/{manager}/instances/{key}/timers/{timer}', { params })}>
            <p>{t.id} no longer wakes {t.key}. A recurring job that its instance declares sets it again when the instance wakes.</p>
          </Action>
        )}
      </>
    }>
      {t.last_error && <div class="problem" role="note"><p><strong>{t.parked ? 'It does not fire any more' : `${plural(t.attempts ?? 0, 'attempt')} of ${attemptsMax} failed`}</strong></p><p>{t.last_error}</p>{t.parked && <p>All {attemptsMax} attempts failed. Mend the cause, then retry.</p>}</div>}
      <Facts of={[
        ['Instance', <a href={href('instance', instance)}>{t.key}</a>],
        ['Manager', <a href={href('instances', { manager: t.manager })}>{t.manager}</a>],
        ...(t.cron
          ? [['Schedule', <>{cron?.inWords(t.cron) || 'recurring'} <code>{t.cron}</code></>] as const, ['Zone', t.time_zone || 'UTC'] as const]
          : [['Fires', 'once'] as const]),
        ['Next', t.next ? <span title={exactly(t.next)}><Ago at={t.next} /></span> : <span class="faint">being computed</span>],
        ...(t.not_before ? [['Tries again', <Ago at={t.not_before} />] as const] : []),
        ['Signal', <code>{t.type}</code>],
        ['If missed', missedOf(t)],
        ['Set', <Ago at={t.updated_at} />],
      ]} />
      {t.cron && cron && !t.parked && <Next of={t} cron={cron} />}
      {t.data && Object.keys(t.data).length > 0 && <><h3>Data</h3><Json value={t.data} label="Data" open={3} /></>}
    </Card>
  )
}

function missedOf(t: Timer): string {
  switch (t.missed) {
    case 'fire_once': return 'one signal for all'
    case 'catch_up': return `the last ${t.catch_up || 16}, oldest first`
    default: return 'skipped'
  }
}

/** The next five instants of a recurring timer: the pending one as the node has it, and those that follow. */
function Next({ of: t, cron }: { of: Timer; cron: Reader }) {
  const first = t.next || 0
  const rest = cron.next(t.cron!, t.time_zone ?? '', first || Date.now(), shownInstants - (first ? 1 : 0))
  return <Instants title="Next five" of={first ? [first, ...rest] : rest} zone={t.time_zone ?? ''} />
}

/** Instants in the reader's zone, and in the timer's if that is another. */
export function Instants({ of, zone, title }: { of: readonly number[]; zone: string; title: string }) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  const format = (timeZone: string): Intl.DateTimeFormat => new Intl.DateTimeFormat(undefined, { timeZone, weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
  const other = (zone || 'UTC') === own ? undefined : zone || 'UTC'
  return (
    <>
      <h3>{title}</h3>
      <ol class="instants" aria-label={title}>
        {of.map((at) => <li key={at}><time dateTime={new Date(at).toISOString()} title={exactly(at)}>{format(own).format(at)}</time>{other && <span class="faint">{format(other).format(at)} {other}</span>}</li>)}
      </ol>
    </>
  )
}
