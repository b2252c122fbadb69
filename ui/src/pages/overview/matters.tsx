import type { ComponentChildren } from 'preact'
import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { full } from '../../parts/format.js'
import { Ago } from '../../parts/time.js'

type Timer = Schemas['Timer']
type Read = Schemas['Read']

/** Rows of one list: a longer one is counted as "at least". */
const rowsMax = 100
/** Managers of the scope whose timers are read, and timers of each. */
const managersMax = 1000
const timersMax = 100
/** Reads in one call; a node refuses more than 128. */
const readsMax = 64
const dayMs = 86_400_000

/** Something that needs a person. */
export interface Matter {
  tone: 'warn' | 'bad'
  text: string
  page: string
  query?: Record<string, string>
  about?: ComponentChildren
}

/** Finds what needs a person: in the present scope, and in the cluster. */
export async function matters(signal: AbortSignal): Promise<Matter[]> {
  const all = await Promise.all([may('read') ? ofScope(signal) : [], may('cluster:read') ? ofCluster(signal) : []])
  return all.flat()
}

interface List<Row> {
  items: readonly Row[]
  next: string | null
}

/** Reads lists at one index, in one call. */
async function lists<Row>(signal: AbortSignal, reads: readonly Read[]): Promise<List<Row>[]> {
  const { answers } = await api.post('/v1/reads', { signal, body: { reads: [...reads] } })
  return answers.map((a) => {
    if (!a.found) throw new Error(a.error?.detail ?? `${a.read} was not answered`)
    return a.found as unknown as List<Row>
  })
}

/** Returns a count with its noun; "at least" if there are more than were read. */
function counted(n: number, noun: string, more: boolean): string {
  return `${more ? 'at least ' : ''}${full(n)} ${noun}${n === 1 ? '' : 's'}`
}

const sentence = (text: string): string => text[0]!.toUpperCase() + text.slice(1)

/** What waits in the present scope. */
async function ofScope(signal: AbortSignal): Promise<Matter[]> {
  const [found, timers] = await Promise.all([
    lists<{ created_at: number; updated_at: number }>(signal, [
      { read: 'list_reviews', status: 'pending', limit: rowsMax },
      { read: 'list_sessions', recoverable: true, limit: rowsMax },
      { read: 'list_sessions', status: 'error', since: Date.now() - dayMs, limit: rowsMax },
      { read: 'list_sessions', status: 'hibernated', limit: rowsMax },
    ]),
    timersOf(signal),
  ])
  const [reviews, lapsed, failed, parked] = found as [List<{ created_at: number }>, List<unknown>, List<unknown>, List<{ updated_at: number }>]
  const out: Matter[] = []
  const add = (list: List<unknown>, tone: Matter['tone'], noun: string, page: string, query: Record<string, string>, about: ComponentChildren): void => {
    if (list.items.length) out.push({ tone, text: sentence(counted(list.items.length, noun, list.next !== null)), page, query, about })
  }
  add(reviews, 'warn', 'pending review', 'reviews', {}, <>the oldest <Ago at={Math.min(...reviews.items.map((r) => r.created_at))} /></>)
  add(lapsed, 'bad', 'session to recover', 'sessions', { recoverable: 'true' }, 'their leases have expired')
  add(failed, 'bad', 'failed session', 'sessions', { status: 'error' }, 'in the last 24 hours')
  add(parked, 'warn', 'hibernated session', 'sessions', { status: 'hibernated' }, <>a worker resumes them; the one that waits longest since <Ago at={Math.min(...parked.items.map((s) => s.updated_at))} /></>)
  return [...out, ...timers]
}

/** Recurring jobs are timers whose ids begin so. */
const jobPrefix = 'cron:'

/** The jobs and timers that failed, over all managers of the scope. */
async function timersOf(signal: AbortSignal): Promise<Matter[]> {
  const managers = await api.get('/v1/managers', { signal, query: { limit: managersMax } })
  const reads: Read[] = managers.items.map((m) => ({ read: 'list_timers', manager: m.name, limit: timersMax }))
  const found: List<Timer>[] = []
  for (let i = 0; i < reads.length; i += readsMax) found.push(...await lists<Timer>(signal, reads.slice(i, i + readsMax)))
  const more = Boolean(managers.next) || found.some((l) => l.next !== null)
  const rows = found.flatMap((l) => l.items)
  const out: Matter[] = []
  const add = (tone: Matter['tone'], noun: string, of: readonly Timer[], show: string): void => {
    if (of.length) out.push({ tone, text: sentence(counted(of.length, noun, more)), page: 'timers', query: { show }, about: of[0]!.last_error })
  }
  const job = (t: Timer): boolean => t.id.startsWith(jobPrefix)
  add('bad', 'parked job', rows.filter((t) => t.parked && job(t)), 'parked')
  add('bad', 'parked timer', rows.filter((t) => t.parked && !job(t)), 'parked')
  add('warn', 'failing job', rows.filter((t) => !t.parked && t.attempts && job(t)), 'failing')
  add('warn', 'failing timer', rows.filter((t) => !t.parked && t.attempts && !job(t)), 'failing')
  if (more) {
    out.push({
      tone: 'warn', text: `Only ${counted(rows.length, 'timer', false)} of ${counted(managers.items.length, 'manager', Boolean(managers.next))} looked at`, page: 'timers',
      about: `at most ${full(timersMax)} of each of ${full(managersMax)} managers`,
    })
  }
  return out
}

/** What is wrong with handlers and moves, over all scopes. */
async function ofCluster(signal: AbortSignal): Promise<Matter[]> {
  const [stats, placement] = await Promise.all([api.get('/v1/cluster/instances', { signal }), api.get('/v1/placement', { signal })])
  const out: Matter[] = []
  for (const n of stats.nodes) {
    if (n.crashed) out.push({ tone: 'bad', text: `${counted(n.crashed, 'handler', false)} crashed on ${n.node}`, page: 'instances', about: 'since it started' })
    if (n.failed) out.push({ tone: 'bad', text: `${counted(n.failed, 'hibernation', false)} failed on ${n.node}`, page: 'instances', about: 'since it started' })
  }
  const draining = placement.moving.length
  if (draining) out.push({ tone: 'warn', text: `${counted(draining, 'partition', false)} draining`, page: 'placement', about: placement.moving[0]!.why })
  if (placement.free) out.push({ tone: 'bad', text: `${counted(placement.free, 'partition', false)} without an owner`, page: 'placement' })
  return out
}
