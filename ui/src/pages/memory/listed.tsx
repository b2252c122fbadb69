import { api, type Schemas } from '../../api/client.js'
import { scope } from '../../app/address.js'
import { quoted } from '../../parts/format.js'
import { Card } from '../../parts/page.js'
import { Empty, Loading, Problem } from '../../parts/states.js'
import { usePages } from '../../parts/table.js'
import { MemoryRow } from './row.js'

/** The memories of an agent by id, or those of all agents by the time of their last write, page by page. */
export function Listed({ agent, round, again, onAgent }: { agent: string; round: number; again: () => void; onAgent: (agent: string) => void }) {
  const pages = usePages<Schemas['Memory']>((after, signal) => api.get('/v1/memory', {
    signal, query: { limit: 50, ...(agent ? { agent_id: agent } : {}), ...(after ? { after } : {}) },
  }), [scope.value, agent, round])
  const title = agent ? `All that ${agent} remembers` : 'All agents'
  return (
    <Card title={title} side={agent
      ? <button type="button" class="quiet" onClick={() => onAgent('')}>All agents</button>
      : <span class="faint">oldest write first</span>}>
      {pages.error ? <Problem error={pages.error} retry={pages.reload} /> : null}
      {pages.rows.length === 0 && !pages.error && (pages.loading
        ? <Loading />
        : <Empty title={agent ? `${agent} remembers nothing` : 'No agent of this scope remembers anything yet'} command={`dormctl memory put ${quoted(agent || 'assistant/1')} 'The customer prefers email.'`}>An agent remembers what is written for it:</Empty>)}
      {pages.rows.length > 0 && <ol class="memories">{pages.rows.map((m) => <MemoryRow key={`${m.agent_id}/${m.id}`} of={m} agent={!agent} done={again} />)}</ol>}
      {pages.more && <div class="buttons"><button type="button" disabled={pages.loading} onClick={pages.loadMore}>{pages.loading ? 'Loading…' : 'Show more'}</button></div>}
    </Card>
  )
}
