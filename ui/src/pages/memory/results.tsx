import { api, type Schemas } from '../../api/client.js'
import { useCall } from '../../api/use.js'
import { scope } from '../../app/address.js'
import { full, plural, quoted } from '../../parts/format.js'
import { Card } from '../../parts/page.js'
import { Empty, Shown } from '../../parts/states.js'
import { MemoryRow } from './row.js'
import { modes, requestOf, type Asked } from './recall.js'

type Found = Schemas['RecalledMemory']

/** The answer of a search, and of its two halves if words and a vector were asked for. */
interface Answer {
  whole: Schemas['Recalled']
  words: Map<string, number> | undefined
  vector: Map<string, number> | undefined
}

const partsMax = 1000

async function recall(asked: Asked, signal: AbortSignal): Promise<Answer> {
  const body = requestOf(asked)
  const half = async (mode: 'text' | 'vector'): Promise<Map<string, number> | undefined> => {
    if (body.mode !== 'hybrid') return undefined
    const { query, embedding, ...rest } = body
    const found = await api.post('/v1/memory/recall', { signal, body: { ...rest, mode, limit: partsMax, ...(mode === 'text' ? { query: query! } : { embedding: embedding! }) } })
    return new Map(found.items.map((m) => [m.id, m.score]))
  }
  const [whole, words, vector] = await Promise.all([api.post('/v1/memory/recall', { signal, body }), half('text'), half('vector')])
  return { whole, words, vector }
}

/** The memories that a search found, best first, and why each was found. */
export function Results({ asked, round, again }: { asked: Asked; round: number; again: () => void }) {
  const found = useCall((signal) => recall(asked, signal), [scope.value, asked, round])
  const counts = found.data?.whole.metadata
  return (
    <Card title={`Found by ${modes[asked.mode] ?? asked.mode}`} side={counts && <span class="faint">{full(counts.matched)} of {plural(counts.entries, 'entry').replace('entrys', 'memories').replace('entry', 'memory')} matched · {full(found.data!.whole.items.length)} shown</span>}>
      <Shown of={found}>{(a) => (a.whole.items.length === 0
        ? <Empty title={a.whole.metadata.entries === 0 ? `${asked.agent} remembers nothing` : 'No memory matches'} {...(a.whole.metadata.entries === 0 ? { command: `dormctl memory put ${quoted(asked.agent)} 'The customer prefers email.'` } : {})}>{a.whole.metadata.entries > 0 ? 'Try other words, or fewer filters.' : null}</Empty>
        : <ol class="memories">{a.whole.items.map((m, i) => <MemoryRow key={m.id} of={m} rank={i + 1} words={asked.query} why={<Why of={m} answer={a} mode={asked.mode} order={a.whole.request.order ?? 'desc'} />} done={again} />)}</ol>)}
      </Shown>
    </Card>
  )
}

function Why({ of, answer, mode, order }: { of: Found; answer: Answer; mode: string; order: string }) {
  if (mode === 'recent') return <span>the order of writing</span>
  if (mode === 'query') return <span>matches the filters; {order === 'asc' ? 'oldest' : 'newest'} observation first</span>
  const best = Math.max(...answer.whole.items.map((m) => m.score), 1e-9)
  const part = (name: string, from: Map<string, number> | undefined): string => `${name} ${from?.has(of.id) ? number(from.get(of.id)!) : 'no match'}`
  return (
    <>
      <span class="score" aria-hidden="true"><span style={{ width: `${Math.max(2, (of.score / best) * 100)}%` }} /></span>
      <span class="mono">score {number(of.score)}</span>
      <span>{mode === 'hybrid' ? `${part('words', answer.words)} · ${part('vector', answer.vector)}` : mode === 'text' ? 'by words' : 'by the vector'}</span>
    </>
  )
}

const number = (n: number): string => n.toFixed(Math.abs(n) < 10 ? 3 : 1)
