import { useLocation } from 'preact-iso/router'
import { api, type Schemas } from '../api/client.js'
import { useChanges } from '../api/data.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { Json } from '../parts/json.js'
import { Card, Facts, PageFrame } from '../parts/page.js'
import { full } from '../parts/format.js'
import { Empty, Loading, Problem } from '../parts/states.js'
import { Ago } from '../parts/time.js'
import { Download } from './conversation/download.js'
import { Messages } from './conversation/messages.js'
import { State } from './conversations.js'

type Conversation = Schemas['SavedConversation']

/** A page that nothing announces is read again after this time. */
const againMs = 15_000

/** One conversation as people see it, live, with what waits for the agent and the state it goes on from. */
export default function ConversationPage() {
  const { query } = useLocation()
  const id = query['id'] ?? ''
  const back = { href: href('conversations'), text: 'Conversations' }
  const found = useCall((signal) => api.get('/v1/conversations/{id}', { signal, params: { id } }), [id, scope.value], againMs)
  useChanges(`conversations/${id}`, found.reload)
  if (!id) return <PageFrame title="Conversation" back={back}><Empty title="The address names no conversation" command="dormctl conversations ls" /></PageFrame>
  const conversation = found.data
  if (!conversation) return <PageFrame title={id} back={back}>{found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />}</PageFrame>
  return (
    <PageFrame fill title={conversation.title || id} back={back} actions={<Download id={id} />} about={
      <>
        <State of={conversation} /> {conversation.title && <><span class="mono">{id}</span> · </>}{conversation.agent_id && <><a href={href('agent', { id: conversation.agent_id })}>{conversation.agent_id}</a> · </>}updated <Ago at={conversation.updated_at} />
      </>
    }>
      {found.error ? <Problem error={found.error} retry={found.reload} /> : null}
      <div class="split">
        <section class="card flush timeline" aria-label="Messages">
          <header><h2>Messages</h2><span class="faint side">{full(conversation.message_count)}</span></header>
          <Messages key={`${id} ${conversation.incarnation}`} conversation={conversation} />
        </section>
        <div class="aside">
          <Details conversation={conversation} />
          {conversation.state && <Card title="State"><Json value={conversation.state} label="State" /></Card>}
        </div>
      </div>
    </PageFrame>
  )
}

function Details({ conversation: c }: { conversation: Conversation }) {
  return (
    <Card title="Conversation">
      <Facts of={[
        ['Owner', c.owner_id || '–'],
        ['Saved', c.saved_at ? <><Ago at={c.saved_at} />{c.lifecycle && ` on ${c.lifecycle.replaceAll('_', ' ')}`}</> : 'not yet'],
        ['Revision', <span class="mono">{c.revision}</span>],
        ['Pending', c.pending_count ? full(c.pending_count) : 'none'],
        ['Created', <Ago at={c.created_at} />],
        ...(c.expires_at ? [['Expires', <Ago at={c.expires_at} />] as const] : []),
      ]} />
    </Card>
  )
}
