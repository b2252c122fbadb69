import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { useCall } from '../../api/use.js'
import { defaultScope, href, scope } from '../../app/address.js'
import { Badge } from '../../parts/badge.js'
import { bytes, full, short } from '../../parts/format.js'
import { Card, Facts } from '../../parts/page.js'
import { Empty, Shown } from '../../parts/states.js'
import { PagedTable, usePages, type Column } from '../../parts/table.js'
import { ageLimit, write, type Policy } from './limits.js'
import { ChangeDefault, ChangeScope } from './policy.js'

type Scope = Schemas['Scope']

/** What quotas count: the use, the limit, and how both are written. */
const counted = [
  ['Keys', 'keys', 'keys_max', full], ['Bytes', 'bytes', 'bytes_max', bytes], ['Agents', 'agents', 'agents_max', full],
  ['Threads', 'threads', 'threads_max', full], ['Entries', 'entries', 'entries_max', full], ['Timers', 'timers', 'timers_max', full],
] as const

/** Reports how much of its fullest quota a scope uses, from 0 to 1 and beyond; undefined without a limit. */
function fullest(s: Scope): { name: string; share: number } | undefined {
  const all = counted.flatMap(([name, use, max]) => (s.policy[max] ? [{ name, share: s[use] / s.policy[max] }] : []))
  return all.sort((a, b) => b.share - a.share)[0]
}

/** A bar of a use against a limit. */
function Use({ share, label }: { share: number; label: string }) {
  return (
    <span class="meter use" role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.min(100, Math.round(share * 100))} aria-valuetext={`${Math.round(share * 100)} %`}>
      <span class={share >= 0.9 ? 'low' : ''} style={{ width: `${Math.min(100, share * 100)}%` }} />
    </span>
  )
}

const columns: Column<Scope>[] = [
  { head: 'Scope', width: 'minmax(0, 2fr)', cell: (s) => <a class="cover" href={href('cluster', { tab: 'quotas' }, s.name)} aria-current={s.name === scope.value ? 'true' : undefined}>{s.name}</a> },
  { head: 'Policy', width: '84px', wide: true, cell: (s) => (s.own_policy ? 'its own' : <span class="faint">default</span>) },
  { head: 'Agents', width: '72px', number: true, wide: true, cell: (s) => short(s.agents) },
  { head: 'Entries', width: '72px', number: true, wide: true, cell: (s) => short(s.entries) },
  { head: 'Bytes', width: '80px', number: true, cell: (s) => bytes(s.bytes) },
  { head: 'Fullest quota', width: 'minmax(136px, 1fr)', cell: (s) => {
    const most = fullest(s)
    return most ? <span class="fullest"><Use share={most.share} label={`${most.name} of ${s.name}`} /><span>{most.name} {Math.round(most.share * 100)} %</span></span> : <span class="faint">no limit</span>
  } },
]

/** What each scope holds, against its quotas. */
export function Quotas() {
  const pages = usePages((after, signal) => api.get('/v1/scopes', { signal, scope: defaultScope, query: { limit: 500, ...(after ? { after } : {}) } }), [])
  return (
    <div class="split">
      <PagedTable label="Scopes" columns={columns} pages={pages} keyOf={(s) => s.name} empty={<Empty title="No scope holds anything yet" command={`dormctl checkpoints put assistant/1 '{"mood":"curious"}'`} />} />
      <div class="aside"><One name={scope.value} changed={pages.reload} /><Default /></div>
    </div>
  )
}

/** One scope: its use as bars, and its limits. */
function One({ name, changed }: { name: string; changed: () => void }) {
  const found = useCall((signal) => api.get('/v1/scopes/{scope}', { signal, params: { scope: name } }), [name], 5_000)
  const done = (): void => {
    found.reload()
    changed()
  }
  return (
    <Shown of={found}>{(s) => (
      <>
        <Card title={`Use of ${s.name}`} side={<Badge text={s.own_policy ? 'its own policy' : 'default policy'} />}>
          <ul class="uses">
            {counted.map(([title, use, max, write]) => {
              const limit = s.policy[max] ?? 0
              return (
                <li key={use}>
                  <span>{title}</span>
                  {limit ? <Use share={s[use] / limit} label={title} /> : <span class="faint">no limit</span>}
                  <span class="mono">{write(s[use])}{limit ? ` of ${write(limit)}` : ''}</span>
                </li>
              )
            })}
          </ul>
        </Card>
        <Card title="Limits of the scope" side={may('scopes:policy') && <ChangeScope scope={s} done={done} />}><Facts of={limits(s.policy)} /></Card>
      </>
    )}</Shown>
  )
}

/** The limits of scopes that have no policy of their own. */
function Default() {
  const found = useCall((signal) => api.get('/v1/default-policy', { signal, scope: defaultScope }), [])
  if (!found.data) return null // a person without the right sees those of their scope
  const quotas = counted.flatMap(([title, , max, write]): [string, string][] => (found.data![max] ? [[title, write(found.data![max]!)]] : []))
  return (
    <Card title="Default policy" side={may('scopes:policy') && <ChangeDefault policy={found.data} done={found.reload} />}>
      <p class="faint">For scopes without a policy of their own.{quotas.length === 0 && ' It limits nothing that a scope holds.'}</p>
      {quotas.length > 0 && <Facts of={quotas} />}
    </Card>
  )
}

/** The limits of a policy that have no use to show. */
function limits(p: Policy): [string, string][] {
  const or = (n: number | null | undefined, write: (n: number) => string, none = 'no limit'): string => (n ? write(n) : none)
  return [
    ['Requests', or(p.requests_per_second, (n) => `${full(n)} a second on each node`)],
    ['Traffic', or(p.bytes_per_second, (n) => `${bytes(n)} a second on each node`)],
    ['Watches', or(p.watches_max, (n) => `${full(n)} on each node`)],
    ['Awake', or(p.awake_max, (n) => `${full(n)} instances on each node`)],
    ['Memories', or(p.memories_max, (n) => `${full(n)} of an agent`, '100,000 of an agent')],
    ['History', or(p.history, (n) => `${full(n)} checkpoints of a key`, '4 checkpoints of a key') + (p.history_age_ms ? `, for at most ${write(ageLimit, p.history_age_ms)}` : '')],
    ['Changes', or(p.changes_max, (n) => `the last ${full(n)}`, 'the last 100,000')],
  ]
}
