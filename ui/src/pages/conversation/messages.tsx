import { useEffect, useRef, useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { useCall } from '../../api/use.js'
import { scope } from '../../app/address.js'
import { Empty, Loading, Problem } from '../../parts/states.js'
import { Clock } from '../../parts/time.js'
import { MessageView, Words } from './message.js'

type Message = Schemas['Message']

const pageMessages = 100
/** What one call reads at most. */
const callMax = 1_000

/** The messages of a conversation, the newest at the end; older ones on demand. */
export function Messages({ conversation }: { conversation: Schemas['SavedConversation'] }) {
  const { id, message_count: count } = conversation
  const [from, setFrom] = useState(Math.max(0, count - pageMessages))
  const box = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const found = useCall((signal) => load(id, from, signal), [id, scope.value, from, count, conversation.updated_at])
  const shown = useRef<readonly Message[] | undefined>(undefined)
  if (found.data) shown.current = found.data
  const messages = shown.current
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [messages?.length, conversation.pending_count])
  const scrolled = (): void => {
    const el = box.current!
    atEnd.current = el.scrollHeight - el.scrollTop - el.clientHeight < 40
  }
  if (!messages) return found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />
  return (
    <div ref={box} class="messages" tabIndex={0} role="log" aria-label="Messages, the newest last" onScroll={scrolled}>
      {found.error ? <Problem error={found.error} retry={found.reload} /> : null}
      {from > 0 && <button type="button" class="quiet" onClick={() => {
        atEnd.current = false
        setFrom(Math.max(0, from - pageMessages))
      }}>Show earlier messages</button>}
      {messages.length === 0 && conversation.pending.length === 0 && <Empty title="There are no messages yet" />}
      {messages.filter((m) => !answers(m, messages)).map((m) => <MessageView key={m.id} of={m} result={resultOf(m, messages)} />)}
      {conversation.pending.map((p) => (
        <article key={p.number} class="message user waits">
          <header><strong>Pending</strong> <span class="faint">the agent takes it with its next save</span><Clock at={p.at} /></header>
          <Words of={p.message} />
        </article>
      ))}
      {conversation.interrupted && <p class="banner warn" role="status">The agent is interrupted: it waits for a person.</p>}
    </div>
  )
}

/** Reads the messages from a seq to the end. */
async function load(id: string, from: number, signal: AbortSignal): Promise<readonly Message[]> {
  const all: Message[] = []
  for (let next: number | null = from; next !== null;) {
    const page: Schemas['MessagePage'] = await api.get('/v1/conversations/{id}/messages', { signal, params: { id }, query: { from: next, limit: callMax } })
    all.push(...page.items)
    next = page.next
  }
  return all
}

/** Returns the message with the result of the tool call that a message shows. */
const resultOf = (of: Message, all: readonly Message[]): Message | undefined =>
  of.role !== 'tool' && of.tool_call ? all.find((m) => m.role === 'tool' && m.tool_call === of.tool_call) : undefined

/** Reports whether a message is the result of a call that is shown: it is shown with it. */
const answers = (of: Message, all: readonly Message[]): boolean =>
  of.role === 'tool' && of.tool_call !== undefined && all.some((m) => m.role !== 'tool' && m.tool_call === of.tool_call)
