import { useEffect, useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { scope } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { full, quoted } from '../../parts/format.js'
import { Empty, Loading, Problem } from '../../parts/states.js'
import { Clock } from '../../parts/time.js'
import { Virtual } from '../../parts/virtual.js'
import { summaryOf } from './entry.js'
import { useEntries, type Entries } from './entries.js'
import { Filtered } from './filtered.js'
import { Jump } from './jump.js'
import { Verify } from './verify.js'

type Entry = Schemas['Entry']

export interface TimelineProps {
  /** The agent whose checkpoint points to the thread, if there is one. */
  agent?: string
  thread: string
  /** The rev that the checkpoint points to. */
  pointer?: number
  /** The entry to show first. */
  seq?: number | undefined
  selected: Entry | undefined
  onSelect: (entry: Entry) => void
}

/** A thread as a timeline: live, of any length, by kind. */
export function Timeline({ agent, thread, pointer, seq, selected, onSelect }: TimelineProps) {
  const entries = useEntries(thread, scope.value)
  const [goTo, setGoTo] = useState<readonly [number, number] | undefined>()
  const [follow, setFollow] = useState(seq === undefined)
  const [kind, setKind] = useState('')
  const go = (to: number): void => {
    setFollow(false)
    setGoTo([Math.max(0, to - entries.floor), Date.now()])
  }
  useEffect(() => {
    if (seq === undefined || !entries.thread) return undefined
    const ended = new AbortController() // an answer that comes late would open this thread again
    const { signal } = ended
    go(seq)
    if (selected?.seq !== seq) void api.get('/v1/threads/{id}/entries', { signal, params: { id: thread }, query: { from: seq, to: seq, limit: 1 } }).then((p) => !signal.aborted && p.items[0] && onSelect(p.items[0]), () => undefined)
    return () => ended.abort()
  }, [entries.thread?.id])
  return (
    <section class="card flush timeline" aria-label="Thread">
      <header>
        <h2>Thread <span class="mono faint">{thread}</span></h2>
        <div class="side">
          <KindSelect thread={thread} value={kind} onValue={setKind} />
          {!kind && <Jump thread={thread} floor={entries.floor} rev={entries.rev} go={go} />}
          {!kind && <button type="button" class="toggle" aria-pressed={follow} onClick={() => setFollow(!follow)}>Live</button>}
        </div>
      </header>
      {entries.ended && <p class="banner warn" role="status">{entries.ended}</p>}
      {entries.error !== undefined && <Problem error={entries.error} />}
      {kind
        ? <Filtered thread={thread} kind={kind} selected={selected} onSelect={onSelect} />
        : <All entries={entries} thread={thread} pointer={pointer} goTo={goTo} follow={follow} unfollow={() => setFollow(false)} selected={selected} onSelect={onSelect} />}
      {entries.thread && (
        <footer>
          <span>{full(entries.rev)} entries{entries.floor > 0 && `, ${full(entries.floor)} compacted`}{pointer !== undefined && entries.rev > pointer && <span class="faint"> · {full(entries.rev - pointer)} past the checkpoint</span>}</span>
          <Verify {...(agent === undefined ? {} : { agent })} thread={thread} rev={entries.rev} />
        </footer>
      )}
    </section>
  )
}

const usual = ['message', 'tool_call', 'tool_result', 'event', 'error']

function KindSelect({ thread, value, onValue }: { thread: string; value: string; onValue: (kind: string) => void }) {
  const [kinds, setKinds] = useState<readonly string[]>(usual)
  useEffect(() => {
    void api.get('/v1/threads/{id}/entries', { params: { id: thread }, query: { tail: 200 } }).then((p) => {
      const found = [...new Set(p.items.map((e) => e.kind))].sort()
      if (found.length) setKinds(found)
    }, () => undefined)
  }, [thread])
  return (
    <label>
      <span class="hidden">Kind</span>
      <select value={value} onChange={(e) => onValue(e.currentTarget.value)}>
        <option value="">all kinds</option>
        {kinds.map((k) => <option key={k} value={k}>{k}</option>)}
      </select>
    </label>
  )
}

interface AllProps {
  entries: Entries
  thread: string
  pointer: number | undefined
  goTo: readonly [number, number] | undefined
  follow: boolean
  unfollow: () => void
  selected: Entry | undefined
  onSelect: (entry: Entry) => void
}

function All({ entries, thread, pointer, goTo, follow, unfollow, selected, onSelect }: AllProps) {
  const count = entries.rev - entries.floor
  if (!entries.thread) return entries.error === undefined ? <Loading /> : null
  if (count === 0) return <Empty title="The thread has no entries" command={`dormctl threads append ${quoted(thread)} '{"content":"hello"}'`} />
  return (
    <div class="timeline-rows" onWheel={(e) => e.deltaY < 0 && unfollow()}>
      <Virtual count={count} rowHeight={rowHeight} label="Entries" goTo={goTo} follow={follow} onRange={(first, last) => entries.want(entries.floor + first, entries.floor + last)}
        row={(i, style) => {
          const seq = entries.floor + i
          return <EntryRow key={seq} seq={seq} entry={entries.at(seq)} style={style} selected={selected?.seq === seq} pointed={pointer !== undefined && seq === pointer - 1} onSelect={onSelect} />
        }} />
    </div>
  )
}

export const rowHeight = 30

/** One entry as a line. */
export function EntryRow({ seq, entry, style, selected, pointed, onSelect }: {
  seq: number
  entry: Entry | undefined
  style: { transform: string; height: string }
  selected: boolean
  pointed: boolean
  onSelect: (entry: Entry) => void
}) {
  return (
    <div role="listitem" class={`entry drawn${selected ? ' selected' : ''}${pointed ? ' pointed' : ''}`} style={style}>
      {entry
        ? (
          <button type="button" onClick={() => onSelect(entry)} aria-current={selected ? 'true' : undefined} title={pointed ? 'The checkpoint points here' : undefined}>
            <span class="seq mono">{seq}</span>
            <Badge text={entry.kind} />
            <span class="clip">{summaryOf(entry)}</span>
            <Clock at={entry.at} />
          </button>
        )
        : <span class="seq mono faint">{seq}</span>}
    </div>
  )
}
