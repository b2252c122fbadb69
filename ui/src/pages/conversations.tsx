import { useLocation } from 'preact-iso/router'
import { useEffect, useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.js'
import { useChanges } from '../api/data.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { full } from '../parts/format.js'
import { PageFrame } from '../parts/page.js'
import { FilterField, Search } from '../parts/search.js'
import { Empty } from '../parts/states.js'
import { PagedTable, usePages, type Column } from '../parts/table.js'
import { Ago } from '../parts/time.js'

type Row = Schemas['ConversationRow']

const columns: Column<Row>[] = [
  { head: 'Conversation', width: 'minmax(0, 2fr)', cell: (c) => <a class="cover" href={href('conversation', { id: c.id })}>{c.title || c.id}</a> },
  { head: 'State', width: '108px', cell: (c) => <State of={c} /> },
  { head: 'Id', width: 'minmax(0, 1fr)', wide: true, cell: (c) => <span class="mono faint">{c.id}</span> },
  { head: 'Agent', width: 'minmax(0, 2fr)', wide: true, cell: (c) => (c.agent_id ? <a class="faint over" href={href('agent', { id: c.agent_id })}>{c.agent_id}</a> : <span class="faint">–</span>) },
  { head: 'Owner', width: 'minmax(0, 1fr)', wide: true, cell: (c) => c.owner_id ?? <span class="faint">–</span> },
  { head: 'Messages', width: '78px', number: true, wide: true, cell: (c) => full(c.message_count) },
  { head: 'Updated', width: '96px', number: true, cell: (c) => <Ago at={c.updated_at} /> },
]

/** Says what a conversation waits for. */
export function State({ of }: { of: Row }) {
  if (of.interrupted) return <Badge text="interrupted" />
  if (of.pending_count > 0) return <Badge text={`${full(of.pending_count)} pending`} tone="busy" />
  return of.lifecycle ? <Badge text={of.lifecycle} tone={of.lifecycle === 'error' ? 'bad' : 'plain'} /> : <Badge text="open" />
}

/** The lists that the API has: each has at most one filter beside the prefix. */
const lists = { all: 'every conversation', interrupted: 'interrupted', agent: 'of an agent', owner: 'of an owner' }
type List = keyof typeof lists

/** The conversations of the scope: by id, agent, owner, and whether they wait for a person. */
export default function Conversations() {
  const { query, route } = useLocation()
  const filter = { prefix: query['prefix'] ?? '', list: (query['list'] ?? 'all') as List, of: query['of'] ?? '' }
  const pages = usePages((after, signal) => api.get('/v1/conversations', {
    signal, query: {
      limit: 500, ...(filter.prefix ? { prefix: filter.prefix } : {}), ...(after ? { after } : {}), ...(filter.list === 'interrupted' ? { interrupted: true } : {}),
      ...(filter.list === 'agent' && filter.of ? { agent_id: filter.of } : {}), ...(filter.list === 'owner' && filter.of ? { owner_id: filter.of } : {}),
    },
  }), [scope.value, filter])
  const set = (change: Partial<typeof filter>): void => {
    const next = { ...filter, ...change }
    route(href('conversations', { ...next, list: next.list === 'all' ? '' : next.list }), true)
  }
  const [changed, setChanged] = useState(0)
  useChanges('conversations/' + filter.prefix, () => setChanged((n) => n + 1))
  useEffect(() => setChanged(0), [scope.value, JSON.stringify(filter)])
  const reload = (): void => {
    setChanged(0)
    pages.reload()
  }
  const empty = filter.prefix || filter.list !== 'all'
    ? <Empty title="No conversation matches the filter" />
    : <Empty title="This scope has no conversations yet" command={`echo '{"ops":[{"op":"save_messages","conversation_id":"c1","messages":[{"role":"user","content":{"text":"hello"}}]}]}' | dormctl commit -`}>A conversation appears here with its first message:</Empty>
  return (
    <PageFrame fill title="Conversations" about="A conversation is what people see of an agent: messages, and the state from which it goes on." actions={
      <div class="filters">
        {changed > 0 && <button type="button" onClick={reload}>Show what changed</button>}
        <label><span class="hidden">Which</span>
          <select value={filter.list} onChange={(e) => set({ list: e.currentTarget.value as List, of: '' })}>
            {Object.entries(lists).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
          </select>
        </label>
        {(filter.list === 'agent' || filter.list === 'owner') && (
          <FilterField label={`Id of the ${filter.list}`} value={filter.of} onValue={(of) => set({ of })} placeholder={`id of the ${filter.list}`} />
        )}
        <Search label="Conversations whose id begins with" value={filter.prefix} onValue={(prefix) => set({ prefix })} />
      </div>
    }>
      <PagedTable label="Conversations" columns={columns} pages={pages} keyOf={(c) => c.id} empty={empty} />
    </PageFrame>
  )
}
