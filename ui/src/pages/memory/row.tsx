import type { ComponentChildren } from 'preact'
import { api, type Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { href } from '../../app/address.js'
import { Action } from '../../parts/dialog.js'
import { line } from '../../parts/format.js'
import { Json } from '../../parts/json.js'
import { Ago } from '../../parts/time.js'

/** A memory with its place in an answer, and why it is there. */
export function MemoryRow({ of, rank, words = '', why, done, agent }: { of: Schemas['Memory']; rank?: number; words?: string; why?: ComponentChildren; done: () => void; agent?: boolean }) {
  const members = Object.keys(of.data ?? {}).length + Object.keys(of.metadata).length
  return (
    <li>
      {rank !== undefined && <span class="rank">{rank}</span>}
      <div class="memory">
        <p>{of.content ? <Marked text={of.content} words={words} /> : <span class="mono">{line(of.data)}</span>}</p>
        {why && <p class="why">{why}</p>}
        <p class="faint memory-facts">
          {agent && <a href={href('memory', { agent: of.agent_id })}>{of.agent_id}</a>}
          <span>{of.class} {of.kind}</span>
          {of.tags.map((t) => <span key={t} class="tag">{t}</span>)}
          {of.session_id && <a href={href('session', { id: of.session_id })}>{of.session_id}</a>}
          <span>written <Ago at={of.updated_at} /></span>
          <span>observed <Ago at={of.observed_at} /></span>
          {of.expires_at ? <span>expires <Ago at={of.expires_at} /></span> : null}
        </p>
        {members > 0 && <details><summary class="faint">Data</summary><Json value={{ ...(of.data ? { data: of.data } : {}), ...(Object.keys(of.metadata).length ? { metadata: of.metadata } : {}) }} label="Data" open={3} /></details>}
      </div>
      {may('write') && (
        <Action label="Delete" title="Delete this memory" danger done={done} run={() => api.delete('/v1/memory/{agent}/{id}', { params: { agent: of.agent_id, id: of.id } })}>
          <p>{line(of.content || of.data, 200)}</p>
          <p>The agent forgets it at once, on all nodes.</p>
        </Action>
      )}
    </li>
  )
}

/** Marks the words of a search in a text. */
function Marked({ text, words }: { text: string; words: string }) {
  const all = [...new Set(words.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter((w) => w.length > 1))]
  if (all.length === 0) return <>{text}</>
  const parts = text.split(new RegExp(`(${all.join('|')})`, 'giu'))
  return <>{parts.map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part))}</>
}
