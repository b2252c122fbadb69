import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { api, watch, type Schemas } from '../../api/client.js'

type Entry = Schemas['Entry']
type Thread = Schemas['Thread']

const pageEntries = 200
/** Pages that are kept; the one that was loaded first is dropped first. */
const pagesMax = 100

/** A thread whose entries are loaded as they come into view, and which grows by itself. */
export interface Entries {
  thread: Thread | undefined
  error: unknown
  /** The first seq that is stored, and one more than the last. */
  floor: number
  rev: number
  /** The entry with the seq; undefined until it has come. */
  at: (seq: number) => Entry | undefined
  /** Loads the entries with these seqs. */
  want: (first: number, last: number) => void
  /** The thread was deleted, or entries of it were compacted, while the page was open. */
  ended: string
}

/** Opens a thread. */
export function useEntries(id: string, scope: string): Entries {
  const [thread, setThread] = useState<Thread | undefined>()
  const [error, setError] = useState<unknown>()
  const [rev, setRev] = useState(0)
  const [ended, setEnded] = useState('')
  const [, redraw] = useState(0)
  const pages = useRef(new Map<number, (Entry | undefined)[]>())
  const asked = useRef(new Set<number>())
  const stop = useRef(new AbortController())

  const put = (entry: Entry): void => {
    const number = Math.floor(entry.seq / pageEntries)
    let page = pages.current.get(number)
    if (!page) {
      page = []
      pages.current.set(number, page)
      if (pages.current.size > pagesMax) {
        const oldest = pages.current.keys().next().value!
        pages.current.delete(oldest)
        asked.current.delete(oldest)
      }
    }
    page[entry.seq % pageEntries] = entry
  }
  useEffect(() => {
    const ending = new AbortController()
    stop.current = ending
    pages.current.clear()
    asked.current.clear()
    const { signal } = ending
    const run = async (): Promise<void> => {
      const found = await api.get('/v1/threads/{id}', { signal, params: { id } })
      if (signal.aborted) return
      setThread(found)
      setRev(found.rev)
      for await (const event of watch<Entry>('/v1/threads/{id}/watch', { signal, params: { id }, query: { from: found.rev, incarnation: found.incarnation } })) {
        if (event.kind !== 'entry') {
          setEnded(event.kind === 'deleted' ? 'This thread was deleted.' : 'Entries of this thread were compacted; load the page again.')
          return
        }
        put(event.data)
        setRev((r) => Math.max(r, event.data.seq + 1))
      }
    }
    run().catch((failure: unknown) => !signal.aborted && setError(failure))
    return () => ending.abort()
  }, [id, scope])

  const floor = thread?.floor ?? 0
  /** Reads entries into the pages that are kept. An answer ends early if its entries are large. */
  const read = async (from: number, to: number, signal: AbortSignal): Promise<void> => {
    for (let next: number | null = from; next !== null && next <= to;) {
      const page: Schemas['EntryPage'] = await api.get('/v1/threads/{id}/entries', { signal, params: { id }, query: { from: next, to, limit: pageEntries } })
      if (signal.aborted) return
      page.items.forEach(put)
      redraw((n) => n + 1)
      next = page.next
    }
  }
  const want = useCallback((first: number, last: number) => {
    const { signal } = stop.current
    for (let number = Math.floor(first / pageEntries); number <= Math.floor(last / pageEntries); number++) {
      if (asked.current.has(number)) continue
      asked.current.add(number)
      const from = Math.max(floor, number * pageEntries)
      read(from, (number + 1) * pageEntries - 1, signal).catch((failure: unknown) => {
        if (signal.aborted) return
        asked.current.delete(number)
        setError(failure)
      })
    }
  }, [id, floor])
  const at = (seq: number): Entry | undefined => pages.current.get(Math.floor(seq / pageEntries))?.[seq % pageEntries]
  return { thread, error, floor, rev, at, want, ended }
}
