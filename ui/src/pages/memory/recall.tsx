import { useEffect, useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.js'
import { jsonOf } from '../../parts/dialog.js'
import { Card } from '../../parts/page.js'
import { Problem } from '../../parts/states.js'

/** A search, as the address has it: all texts; empty ones are absent. */
export interface Asked {
  agent: string
  mode: string
  query: string
  class: string
  kind: string
  tags: string
  session: string
  within: string
  limit: string
  embedding: string
}

export const classes = ['episodic', 'semantic', 'procedural', 'working'] as const

/** The modes of a search, in words. */
export const modes: Readonly<Record<string, string>> = {
  text: 'words', vector: 'a vector', hybrid: 'words and a vector', query: 'filters', recent: 'the last written',
}

const words = (mode: string): boolean => mode === 'text' || mode === 'hybrid'
const vectors = (mode: string): boolean => mode === 'vector' || mode === 'hybrid'

/** Returns the request of a search. It throws an error for people if the vector is none. */
export function requestOf(a: Asked): Schemas['RecallBody'] {
  const list = (text: string): string[] => text.split(',').map((t) => t.trim()).filter(Boolean)
  const mode = a.mode as NonNullable<Schemas['RecallBody']['mode']>
  const limit = Number(a.limit) || 10
  return {
    agent_id: a.agent, mode, limit,
    ...(words(mode) ? { query: a.query } : mode === 'recent' ? { query: a.query || '*' } : {}),
    ...(mode === 'query' && a.query ? { text_contains: a.query } : {}),
    ...(vectors(mode) ? { embedding: jsonOf<number[]>('The vector', a.embedding) ?? [] } : {}),
    ...(a.class ? { classes: [a.class] as never } : {}), ...(a.kind ? { kinds: list(a.kind) } : {}),
    ...(a.tags ? { tags_any: list(a.tags) } : {}), ...(a.session ? { session_id: a.session } : {}),
    ...(a.within ? { within: a.within as 'all' } : a.session ? {} : { within: 'all' as const }),
  }
}

/** The form of a search. */
export function Recall({ asked, onAsk }: { asked: Asked; onAsk: (asked: Asked) => void }) {
  const start = (): Asked => ({ ...asked, mode: asked.mode || 'text' })
  const [a, setA] = useState<Asked>(start)
  const [error, setError] = useState<unknown>()
  useEffect(() => setA(start()), [JSON.stringify(asked)])
  const text = (name: keyof Asked) => ({ value: a[name], onInput: (e: { currentTarget: { value: string } }) => setA({ ...a, [name]: e.currentTarget.value }), spellcheck: false, autocomplete: 'off' as const })
  const choice = (name: keyof Asked) => ({ value: a[name], onChange: (e: { currentTarget: { value: string } }) => setA({ ...a, [name]: e.currentTarget.value }) })
  const complete = a.agent !== '' && (!words(a.mode) || a.query !== '') && (!vectors(a.mode) || a.embedding !== '')
  return (
    <Card title="Search">
      <form class="form" onSubmit={(e) => {
        e.preventDefault()
        try {
          requestOf(a)
          setError(undefined)
          onAsk(a)
        } catch (failure) {
          setError(failure)
        }
      }}>
        <label><span>Agent</span><input data-search="" {...text('agent')} placeholder="assistant/1" /></label>
        <label><span>By</span><select {...choice('mode')}>{Object.entries(modes).map(([mode, name]) => <option key={mode} value={mode}>{name}</option>)}</select></label>
        {a.mode !== 'vector' && a.mode !== 'recent' && <label><span>{a.mode === 'query' ? 'Text within' : 'Words'}{a.mode === 'query' && <span class="faint"> (optional)</span>}</span><input {...text('query')} placeholder={a.mode === 'query' ? 'refund' : 'how does the customer want to be told?'} /></label>}
        {vectors(a.mode) && <label><span>Vector</span><textarea class="mono" rows={3} {...text('embedding')} placeholder="[0.12, -0.5, 0.31]" /><small class="faint">A JSON list of as many numbers as the agent’s memories have</small></label>}
        <details class="more" open={Boolean(a.class || a.kind || a.tags || a.session || a.within || a.limit)}>
          <summary>Filters</summary>
          <div class="form">
            <label><span>Class</span><select {...choice('class')}><option value="">any</option>{classes.map((c) => <option key={c} value={c}>{c}</option>)}</select></label>
            <label><span>Kinds</span><input {...text('kind')} placeholder="event, fact" /></label>
            <label><span>Any of these tags</span><input {...text('tags')} placeholder="support, billing" /></label>
            <label><span>Session</span><input {...text('session')} placeholder="s-001" /></label>
            <label><span>Within</span><select {...choice('within')}><option value="">{a.session ? 'the agent and the session' : 'all'}</option><option value="agent">the agent’s own</option><option value="session">the session’s own</option><option value="all">all</option></select></label>
            <label><span>At most</span><input inputMode="numeric" {...text('limit')} placeholder="10" /></label>
          </div>
        </details>
        {error !== undefined && <Problem error={error} />}
        <div class="buttons">
          {asked.mode && <button type="button" class="quiet" onClick={() => onAsk({ ...asked, mode: '', query: '', embedding: '' })}>List all instead</button>}
          <button type="submit" class="solid" disabled={!complete}>Recall</button>
        </div>
      </form>
    </Card>
  )
}
