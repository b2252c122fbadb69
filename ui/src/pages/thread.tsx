import { useLocation } from 'preact-iso/router'
import { useState } from 'preact/hooks'
import type { Schemas } from '../api/client.js'
import { href } from '../app/address.js'
import { Empty } from '../parts/states.js'
import { PageFrame } from '../parts/page.js'
import { EntryCard } from './agent/entry.js'
import { Timeline } from './agent/timeline.js'

type Entry = Schemas['Entry']

/** One thread, whether or not a checkpoint points to it. */
export default function ThreadPage() {
  const { query, route } = useLocation()
  const id = query['id'] ?? ''
  const [opened, setOpened] = useState<{ thread: string; entry: Entry } | undefined>()
  const selected = opened?.thread === id ? opened.entry : undefined
  const select = (entry: Entry | undefined): void => {
    setOpened(entry && { thread: id, entry })
    route(href('thread', { id, seq: entry?.seq }), true)
  }
  if (!id) return <PageFrame title="Thread"><Empty title="The address names no thread" command="dormctl threads ls" /></PageFrame>
  return (
    <PageFrame fill title={id} back={{ href: href('agents'), text: 'Agents' }} about="A thread: entries in the order in which they were appended.">
      <div class="split">
        <Timeline key={id} thread={id} seq={query['seq'] ? Number(query['seq']) : undefined} selected={selected} onSelect={select} />
        <div class="aside">{selected ? <EntryCard entry={selected} thread={id} close={() => select(undefined)} /> : <p class="calm">Choose an entry to see it whole.</p>}</div>
      </div>
    </PageFrame>
  )
}
