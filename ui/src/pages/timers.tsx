import { useLocation } from 'preact-iso/router'
import { useEffect, useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.js'
import { may } from '../api/session.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { full } from '../parts/format.js'
import { Card, PageFrame } from '../parts/page.js'
import { Search } from '../parts/search.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { PagedTable, type Column } from '../parts/table.js'
import { Ago } from '../parts/time.js'
import { loadCron, type Reader } from './timers/cron.js'
import { SetTimer } from './timers/set.js'
import { TimerCard } from './timers/timer.js'

type Timer = Schemas['Timer']

const managersMax = 200
const perManagerMax = 1000

/** The state of a timer, in one word. */
export const stateOf = (t: Timer): 'parked' | 'failing' | 'set' => (t.parked ? 'parked' : t.attempts ? 'failing' : 'set')

interface All {
  timers: Timer[]
  managers: string[]
  /** Managers with more timers than were read. */
  cut: string[]
}

/** Reads the timers of all managers; those that fire next come first. */
async function readAll(signal: AbortSignal): Promise<All> {
  const managers = (await api.get('/v1/managers', { signal, query: { limit: managersMax } })).items.map((m) => m.name)
  const found = await Promise.all(managers.map((manager) => api.get('/v1/managers/{manager}/timers', { signal, exact: true, params: { manager }, query: { limit: perManagerMax } })))
  const at = (t: Timer): number => (t.parked ? Infinity : t.not_before || t.next || 0)
  return {
    timers: found.flatMap((f) => f.items).sort((a, b) => at(a) - at(b) || (a.id < b.id ? -1 : 1)), managers, cut: managers.filter((_, i) => found[i]!.next),
  }
}

const nameOf = (t: Timer): string => `${t.manager}\n${t.key}\n${t.id}`

/** The timers of the whole scope: what fires next, what failed, and why. */
export default function Timers() {
  const { query, route } = useLocation()
  const filter = { manager: query['manager'] ?? '', prefix: query['prefix'] ?? '', show: query['show'] ?? '' }
  const chosen = { in: query['in'] ?? '', key: query['key'] ?? '', timer: query['timer'] ?? '' }
  const found = useCall(readAll, [scope.value], 3_000)
  const [cron, setCron] = useState<Reader | undefined>()
  useEffect(() => void loadCron().then((r) => setCron(r), () => undefined), [])
  const set = (change: Record<string, string>): void => route(href('timers', { ...filter, ...change }), true)
  const all = found.data
  if (!all) return <PageFrame title="Timers">{found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />}</PageFrame>
  const rows = all.timers.filter((t) => (!filter.manager || t.manager === filter.manager) && t.key.startsWith(filter.prefix) && (!filter.show || stateOf(t) === filter.show || (filter.show === 'recurring' && t.cron)))
  const selected = all.timers.find((t) => t.manager === chosen.in && t.key === chosen.key && t.id === chosen.timer)
  const count = (state: string): number => all.timers.filter((t) => stateOf(t) === state).length
  const columns: Column<Timer>[] = [
    { head: 'Fires', width: '96px', cell: (t) => (t.parked ? <span class="bad-text">no more</span> : <Ago at={t.not_before || t.next} none="soon" />) },
    { head: 'Timer', width: 'minmax(0, 2fr)', cell: (t) => <a class="cover" href={href('timers', { ...filter, in: t.manager, key: t.key, timer: t.id })} aria-current={selected && nameOf(t) === nameOf(selected) ? 'true' : undefined}>{t.id}</a> },
    { head: 'Instance', width: 'minmax(0, 2fr)', wide: true, cell: (t) => <span>{t.key} <span class="faint">{t.manager}</span></span> },
    { head: 'Schedule', width: 'minmax(0, 3fr)', wide: true, cell: (t) => (t.cron ? <span title={t.cron}>{cron?.inWords(t.cron) || <span class="mono">{t.cron}</span>}</span> : <span class="faint">once</span>) },
    { head: 'State', width: '92px', cell: (t) => <Badge text={stateOf(t)} /> },
  ]
  const filtered = Object.values(filter).some(Boolean)
  return (
    <PageFrame fill title="Timers" about={<>{full(all.timers.length)} in scope {scope.value}{count('failing') > 0 && <> · <span class="bad-text">{full(count('failing'))} failing</span></>}{count('parked') > 0 && <> · <span class="bad-text">{full(count('parked'))} parked</span></>}{all.cut.length > 0 && <> · only the first {full(perManagerMax)} of {all.cut.join(', ')}</>}</>} actions={
      <div class="filters">
        <label><span class="hidden">Manager</span><select value={filter.manager} onChange={(e) => set({ manager: e.currentTarget.value })}><option value="">every manager</option>{all.managers.map((m) => <option key={m} value={m}>{m}</option>)}</select></label>
        <label><span class="hidden">State</span><select value={filter.show} onChange={(e) => set({ show: e.currentTarget.value })}><option value="">all timers</option><option value="set">set</option><option value="failing">failing</option><option value="parked">parked</option><option value="recurring">recurring</option></select></label>
        <Search label="Timers of instances whose key begins with" value={filter.prefix} onValue={(prefix) => set({ prefix })} placeholder="instances beginning with…" />
        {may('run') && all.managers.length > 0 && <SetTimer managers={all.managers} manager={filter.manager || all.managers[0]!} cron={cron} done={(in_, key, timer) => {
          route(href('timers', { in: in_, key, timer }))
          found.reload()
        }} />}
      </div>
    }>
      {found.error ? <Problem error={found.error} retry={found.reload} /> : null}
      <div class="split">
        <section class="card flush timeline" aria-label="Timers by the time that they fire">
          <PagedTable label="Timers" columns={columns} keyOf={nameOf} pages={{ rows, more: false, loading: false, error: undefined, loadMore: () => undefined, reload: found.reload }} empty={filtered
            ? <Empty title="No timer matches the filter" />
            : <Empty title="This scope has no timers" command={'dormctl timers put chats room-1 digest --cron "0 7 * * 1-5" --time-zone Europe/Paris'}>A timer wakes its instance with a signal:</Empty>} />
        </section>
        <div class="aside">
          {selected
            ? <TimerCard key={nameOf(selected)} of={selected} cron={cron} reload={found.reload} />
            : <Card title="Timer"><p class="calm">{chosen.timer ? `The timer ${chosen.timer} of ${chosen.key} is gone: it has fired, or was cancelled.` : 'Choose a timer to see when it fires and what it sends.'}</p></Card>}
        </div>
      </div>
    </PageFrame>
  )
}
