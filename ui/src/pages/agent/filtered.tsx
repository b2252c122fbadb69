import { api, type Schemas } from '../../api/client.js'
import { Empty, Loading, Problem } from '../../parts/states.js'
import { usePages } from '../../parts/table.js'
import { Virtual } from '../../parts/virtual.js'
import { EntryRow, rowHeight } from './timeline.js'

type Entry = Schemas['Entry']

/** The entries of one kind, the last first. */
export function Filtered({ thread, kind, selected, onSelect }: { thread: string; kind: string; selected: Entry | undefined; onSelect: (entry: Entry) => void }) {
  const pages = usePages<Entry>(async (after, signal) => {
    const page = await api.get('/v1/threads/{id}/entries', { signal, params: { id: thread }, query: { kind: [kind], order: 'desc', limit: 200, ...(after ? { to: Number(after) } : {}) } })
    return { items: page.items, next: page.next === null ? null : String(page.next) }
  }, [thread, kind])
  if (pages.rows.length === 0) {
    if (pages.error) return <Problem error={pages.error} retry={pages.reload} />
    if (pages.loading) return <Loading />
    if (!pages.more) return <Empty title={`The thread has no entries of kind ${kind}`} />
  }
  return (
    <div class="timeline-rows">
      <Virtual count={pages.rows.length} rowHeight={rowHeight} label={`Entries of kind ${kind}`} onRange={(_first, last) => last > pages.rows.length - 60 && pages.loadMore()}
        row={(i, style) => {
          const entry = pages.rows[i]!
          return <EntryRow key={entry.seq} seq={entry.seq} entry={entry} style={style} selected={selected?.seq === entry.seq} pointed={false} onSelect={onSelect} />
        }} />
    </div>
  )
}
