import type { Schemas } from '../../api/client.js'
import { href } from '../../app/address.js'
import { Badge, type Tone } from '../../parts/badge.js'
import { line, plural, quoted } from '../../parts/format.js'
import { Json } from '../../parts/json.js'
import { Empty } from '../../parts/states.js'
import { Clock } from '../../parts/time.js'

type Event = Schemas['ReplayEvent']

interface Turn {
  id: string
  request: Event | undefined
  events: Event[]
}

/** Divides a timeline into turns: each begins with a request. */
export function turnsOf(timeline: readonly Event[]): Turn[] {
  const turns: Turn[] = []
  for (const event of timeline) {
    if (event.what === 'request') turns.push({ id: event.id ?? '', request: event, events: [] })
    else if (event.request_id && event.what !== 'queued') {
      const own = turns.filter((t) => t.id === event.request_id).at(-1)
      if (own) own.events.push(event)
      else turns.push({ id: event.request_id, request: undefined, events: [event] })
    } else {
      const last = turns.at(-1)
      if (last) last.events.push(event)
      else turns.push({ id: '', request: undefined, events: [event] })
    }
  }
  return turns
}

const tones: Record<string, Tone> = { request: 'busy', lease: 'plain', entry: 'busy', snapshot: 'good', checkpoint: 'good', review: 'warn', review_escalated: 'bad', review_decided: 'good', created: 'plain', forked: 'plain', queued: 'warn' }

/** The turns of a session as they were: request, snapshots, effects, reviews and outcome. */
export function Turns({ replay, session }: { replay: Schemas['Replayed']; session: Schemas['Session'] }) {
  const turns = turnsOf(replay.timeline)
  if (turns.every((t) => !t.request)) {
    return <Empty title="This session has had no request" command={`dormctl sessions claim ${quoted(session.id)} --owner worker-1 --request r1`}>A worker begins a turn by claiming the session with a request.</Empty>
  }
  return (
    <ol class="turn-list">
      {turns.map((turn, i) => (
        <li key={`${turn.id}/${i}`}>
          {turn.request
            ? <header><strong>{turn.id}</strong> {turn.request.status ? <Badge text={turn.request.status} /> : <Badge text="open" tone="busy" />}<span class="side">{turn.request.by && <span class="faint">{turn.request.by}</span>} <Clock at={turn.request.at} /></span></header>
            : null}
          {turn.request?.data != null && <p class="turn-input">{inputOf(turn.request.data)}</p>}
          {turn.request
            ? <Lines events={turn.events} session={session} />
            : <details><summary class="faint">{turn.id || 'Before the first turn'}, {plural(turn.events.length, 'event')}</summary><Lines events={turn.events} session={session} /></details>}
        </li>
      ))}
    </ol>
  )
}

const Lines = ({ events, session }: { events: readonly Event[]; session: Schemas['Session'] }) => (
  <ul>{events.map((e, n) => <Line key={n} event={e} thread={session.thread} />)}</ul>
)

const inputOf = (data: unknown): string => {
  if (typeof data === 'object' && data !== null && 'text' in data && typeof data.text === 'string') return data.text
  return line(data)
}

/** Returns the text of an entry, if its payload has one. */
function briefly(data: unknown): string {
  if (typeof data !== 'object' || data === null) return ''
  const p = data as Record<string, unknown>
  const text = p['content'] ?? p['text'] ?? p['name'] ?? p['result'] ?? p['error']
  return text === undefined ? '' : line(text, 160)
}

function Line({ event, thread }: { event: Event; thread: string | undefined }) {
  const what = [event.operation || event.event || event.effect_id || event.id || '', event.what === 'entry' ? briefly(event.data) : ''].filter(Boolean).join(': ')
  const body = (
    <>
      <Badge text={event.what} tone={tones[event.what] ?? 'plain'} />
      <span class="clip">{what}{event.status ? ` · ${event.status}` : ''}{event.by ? <span class="faint"> by {event.by}</span> : null}{typeof event.seq === 'number' && <span class="mono faint"> #{event.seq}</span>}</span>
      <Clock at={event.at} />
    </>
  )
  if (event.data === undefined || event.data === null) return <li class="event">{body}</li>
  return <li><details><summary class="event">{body}</summary><div class="event-data">{typeof event.seq === 'number' && thread && <a href={href('thread', { id: thread, seq: event.seq })}>Entry {event.seq} of the thread</a>}<Json value={event.data} label={`Data of ${event.what}`} /></div></details></li>
}
