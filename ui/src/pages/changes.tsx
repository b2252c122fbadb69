import { useLocation } from 'preact-iso/router'
import { useEffect, useState } from 'preact/hooks'
import type { Change } from '../api/data.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { full, plural } from '../parts/format.js'
import { PageFrame } from '../parts/page.js'
import { Search } from '../parts/search.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { Clock } from '../parts/time.js'
import { Virtual } from '../parts/virtual.js'
import { ChangeCard } from './feed/detail.js'
import { keptMax, pathOf, useFeed } from './feed/feed.js'

const kinds = ['checkpoints', 'claims', 'conversations', 'managers', 'memory', 'messages', 'reviews', 'scopes', 'sessions', 'threads', 'timers', 'values']

/** How long the page waits for a first change before it says that there is none. */
const quietMs = 1_500

/** The changes of the scope in the order of the log, as they happen. */
export default function Changes() {
  const { query, route } = useLocation()
  const prefix = query['prefix'] ?? ''
  const from = Number(query['from']) > 0 ? Number(query['from']) : undefined
  const [paused, setPaused] = useState(false)
  const [selected, setSelected] = useState<Change | undefined>()
  const [quiet, setQuiet] = useState(false)
  const feed = useFeed(scope.value, prefix, from, paused)
  const set = (change: { prefix?: string; from?: string }): void => route(href('changes', { prefix, from, ...change }), true)
  useEffect(() => {
    setSelected(undefined)
    setQuiet(false)
    const timer = setTimeout(() => setQuiet(true), quietMs)
    return () => clearTimeout(timer)
  }, [scope.value, prefix, from])
  const kind = prefix.slice(0, prefix.indexOf('/') + 1)
  const rows = feed.rows
  return (
    <PageFrame fill title="Changes" about="Each change of the scope, in the order of the log. A lost connection loses none and repeats none." actions={
      <div class="filters">
        <button type="button" class="toggle" aria-pressed={!paused} onClick={() => setPaused(!paused)}>{paused ? (feed.waiting ? `Go on: ${full(feed.waiting)} new` : 'Go on') : 'Live'}</button>
        <label><span class="hidden">Kind</span>
          <select value={kind} onChange={(e) => set({ prefix: e.currentTarget.value })}>
            <option value="">every kind</option>
            {kinds.map((k) => <option key={k} value={`${k}/`}>{k}</option>)}
          </select>
        </label>
        <Search label="Paths that begin with" placeholder="threads/support/" value={prefix} onValue={(v) => set({ prefix: v })} />
      </div>
    }>
      {feed.error !== undefined && <Problem error={feed.error} retry={feed.retry} />}
      <div class={selected ? 'split' : 'split one'}>
        <section class="card flush timeline" aria-label="Changes">
          {rows.length === 0
            ? feed.error !== undefined ? null : quiet
              ? <Empty title={prefix ? `No recent change has a path that begins with ${prefix}` : 'Nothing has changed lately'} command={`dormctl checkpoints put assistant/1 '{"mood":"curious"}'`}>A change appears here when it happens. Make one:</Empty>
              : <Loading />
            : (
              <div class="timeline-rows" onWheel={(e) => e.deltaY < 0 && setPaused(true)}>
                <Virtual count={rows.length} rowHeight={rowHeight} label="Changes" follow={!paused} row={(i, style) => {
                  const c = rows[i]!
                  const is = c === selected
                  return <Row key={`${c.index}.${c.ordinal}`} change={c} style={style} selected={is} onSelect={() => {
                    setPaused(true)
                    setSelected(is ? undefined : c)
                  }} />
                }} />
              </div>
            )}
          <footer>
            <span>{plural(rows.length, 'change')}{feed.dropped > 0 && `, ${full(feed.dropped)} older ones dropped: the page keeps ${full(keptMax)}`}{feed.floor > 0 && `; earlier ones than index ${full(feed.floor)} are no longer kept`}</span>
            {rows[0] && !from && <a href={href('changes', { prefix, from: 1 })}>From the beginning</a>}
          </footer>
        </section>
        {selected && <div class="aside"><ChangeCard change={selected} close={() => setSelected(undefined)} /></div>}
      </div>
    </PageFrame>
  )
}

const rowHeight = 30

function Row({ change, style, selected, onSelect }: { change: Change; style: { transform: string; height: string }; selected: boolean; onSelect: () => void }) {
  const number = change.revision ?? change.rev ?? change.epoch
  return (
    <div role="listitem" class={`entry change drawn${selected ? ' selected' : ''}`} style={style}>
      <button type="button" onClick={onSelect} aria-current={selected ? 'true' : undefined}>
        <span class="seq mono">{change.index}</span>
        <Badge text={change.deleted ? 'deleted' : change.status ?? change.kind} {...(change.deleted ? { tone: 'bad' as const } : {})} />
        <span class="clip"><bdi>{pathOf(change)}</bdi>{number && !change.deleted ? <span class="faint mono">@{number}</span> : null}</span>
        <span class="faint clip by">{change.principal}</span>
        <Clock at={change.time} />
      </button>
    </div>
  )
}
