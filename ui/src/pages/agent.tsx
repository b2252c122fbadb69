import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { quoted } from '../parts/format.js'
import { Badge } from '../parts/badge.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { PageFrame } from '../parts/page.js'
import { Ago } from '../parts/time.js'
import { AgentActions } from './agent/actions.js'
import { CheckpointCard } from './agent/checkpoint.js'
import { EntryCard } from './agent/entry.js'
import { Related } from './agent/related.js'
import { Timeline } from './agent/timeline.js'

type Entry = Schemas['Entry']

/** One agent whole: its checkpoint, thread, sessions, memories, instance and timers. */
export default function Agent() {
  const { query, route } = useLocation()
  const id = query['id'] ?? ''
  const [opened, setOpened] = useState<{ thread: string; entry: Entry } | undefined>()
  const back = { href: href('agents'), text: 'Agents' }
  const found = useCall((signal) => api.get('/v1/checkpoints/{key}', { signal, exact: true, params: { key: id } }), [id, scope.value], 5_000)
  const checkpoint = found.data
  if (!id) return <PageFrame title="Agent" back={back}><Empty title="The address names no agent" command="dormctl checkpoints ls" /></PageFrame>
  if (!checkpoint) return <PageFrame title={id} back={back}>{found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />}</PageFrame>
  const thread = checkpoint.thread
  const selected = opened?.thread === thread?.id ? opened?.entry : undefined
  const select = (entry: Entry | undefined): void => {
    setOpened(entry && thread ? { thread: thread.id, entry } : undefined)
    route(href('agent', { id, seq: entry?.seq }), true)
  }
  return (
    <PageFrame fill title={id} back={back} actions={<AgentActions checkpoint={checkpoint} reload={found.reload} />} about={
      <>
        {checkpoint.lifecycle && <Badge text={checkpoint.lifecycle} />} revision <span class="mono">{checkpoint.revision}</span> · updated <Ago at={checkpoint.updated_at} /> · created <Ago at={checkpoint.created_at} />
        {checkpoint.expires_at ? <> · expires <Ago at={checkpoint.expires_at} /></> : null}
      </>
    }>
      <div class="split">
        {thread
          ? <Timeline key={thread.id} agent={id} thread={thread.id} pointer={thread.rev} seq={query['seq'] ? Number(query['seq']) : undefined} selected={selected} onSelect={select} />
          : <section class="card timeline" aria-label="Thread"><Empty title="This agent has no thread" command={`dormctl threads append ${quoted(id)} '{"content":"hello"}'`}>Its checkpoint points to none.</Empty></section>}
        <div class="aside">
          {selected && thread && <EntryCard entry={selected} thread={thread.id} close={() => select(undefined)} />}
          <CheckpointCard key={id} current={checkpoint} />
          <Related id={id} />
        </div>
      </div>
    </PageFrame>
  )
}
