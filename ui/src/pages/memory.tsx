import { useLocation } from 'preact-iso/router'
import { href } from '../app/address.js'
import { PageFrame } from '../parts/page.js'
import { Listed } from './memory/listed.js'
import { Recall, type Asked } from './memory/recall.js'
import { Results } from './memory/results.js'
import { WriteMemory } from './memory/write.js'

/** Searches the memories of an agent, and says why each was found; without a search it lists them. */
export default function Memory() {
  const { query, route } = useLocation()
  const asked: Asked = {
    agent: query['agent'] ?? '', mode: query['mode'] ?? '', query: query['query'] ?? '', class: query['class'] ?? '', kind: query['kind'] ?? '',
    tags: query['tags'] ?? '', session: query['session'] ?? '', within: query['within'] ?? '', limit: query['limit'] ?? '', embedding: query['embedding'] ?? '',
  }
  const searching = asked.agent !== '' && asked.mode !== ''
  const round = Number(query['round'] ?? 0)
  const again = (): void => route(href('memory', { ...asked, round: round + 1 }), true)
  return (
    <PageFrame title="Memory" about="What agents remember: found by words, by a vector, or by both, as an agent finds it." actions={<WriteMemory agent={asked.agent} done={again} />}>
      <div class="columns recall">
        <Recall asked={asked} onAsk={(a) => route(href('memory', { ...a }))} />
        {searching ? <Results asked={asked} round={round} again={again} /> : <Listed agent={asked.agent} round={round} again={again} onAgent={(agent) => route(href('memory', { ...asked, agent }))} />}
      </div>
    </PageFrame>
  )
}
