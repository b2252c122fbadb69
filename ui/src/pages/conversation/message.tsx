import type { Schemas } from '../../api/client.js'
import { Badge, type Tone } from '../../parts/badge.js'
import { line } from '../../parts/format.js'
import { Json } from '../../parts/json.js'
import { Clock } from '../../parts/time.js'

type Message = Schemas['Message']

const tones: Record<string, Tone> = { executing: 'busy', completed: 'good', failed: 'bad', interrupted: 'warn', cancelled: 'plain' }
const speakers: Record<string, string> = { user: 'User', assistant: 'Agent', system: 'System', tool: 'Tool' }

/** Returns the text of a message; undefined if its content is of another kind. */
function textOf(content: Record<string, unknown>): string | undefined {
  for (const name of ['text', 'content', 'message', 'error']) {
    const nested = content[name]
    if (typeof nested === 'string') return nested
    if (name === 'content' && nested && typeof nested === 'object' && !Array.isArray(nested)) return textOf(nested as Record<string, unknown>)
  }
  return undefined
}

/** Shows content as people read it. */
export function Words({ of }: { of: Record<string, unknown> }) {
  const text = textOf(of)
  return text === undefined ? <Json value={of} label="Content" open={1} /> : <p class="said">{text}</p>
}

/** One message: a text, a tool call with its result, or whatever its content holds. */
export function MessageView({ of, result }: { of: Message; result: Message | undefined }) {
  return (
    <article class={`message ${of.role}`} aria-label={`${speakers[of.role] ?? of.role}, message ${of.seq}`}>
      <header>
        <strong>{speakers[of.role] ?? of.role}</strong>
        {of.type !== 'text' && <span class="faint">{of.type.replaceAll('_', ' ')}</span>}
        {of.status && <Badge text={of.status} tone={tones[of.status] ?? 'plain'} />}
        {of.synthetic && <Badge text="synthetic" />}
        <Clock at={of.at} />
      </header>
      {of.tool_call ? <ToolCall of={of} result={result} /> : <Words of={of.content} />}
    </article>
  )
}

function ToolCall({ of, result }: { of: Message; result: Message | undefined }) {
  const { name, tool, tool_name, arguments: given, ...rest } = of.content
  const called = [name, tool, tool_name].find((n) => typeof n === 'string') as string | undefined
  return (
    <>
      <details class="call">
        <summary><code>{called ?? of.tool_call}</code> <span class="faint clip">{line(given ?? rest, 120)}</span></summary>
        <Json value={given ?? rest} label="Arguments" />
        {given !== undefined && Object.keys(rest).length > 0 && <Json value={rest} label="Further content" />}
      </details>
      {result && (
        <details class="call">
          <summary>{result.status && <Badge text={result.status} tone={tones[result.status] ?? 'plain'} />} <span class="clip">{textOf(result.content) ?? line(result.content, 160)}</span></summary>
          <Json value={result.content} label="Result" />
        </details>
      )}
    </>
  )
}
