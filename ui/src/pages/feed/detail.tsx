import { useEffect, useState } from 'preact/hooks'
import type { Change } from '../../api/data.js'
import { Json } from '../../parts/json.js'
import { Card, Facts } from '../../parts/page.js'
import { Loading, Problem } from '../../parts/states.js'
import { Clock } from '../../parts/time.js'
import { bodyOf, pathOf } from './feed.js'
import { linkOf } from './links.js'

/** The kinds of changes whose content the feed can show. */
const withBody = new Set(['values', 'checkpoints', 'threads', 'memory'])

/** One change, and on demand what it wrote. */
export function ChangeCard({ change, close }: { change: Change; close: () => void }) {
  const link = linkOf(change)
  return (
    <Card title={change.deleted ? 'A deletion' : 'A change'} side={<button type="button" onClick={close}>Close</button>}>
      <Facts of={[
        ['Path', <span class="mono">{pathOf(change)}</span>],
        ['Place', <span class="mono" title="The index of the log entry, and the number within it">{change.index}.{change.ordinal}</span>],
        ['Time', <Clock at={change.time} />],
        ...(change.deleted ? [] : [['Revision', <span class="mono">{change.revision ?? change.rev ?? change.epoch ?? '–'}</span>] as const]),
        ...(change.status ? [['Status', change.status] as const] : []),
        ['By', change.principal || <span class="faint">no principal: an expiry, or a call without a token</span>],
      ]} />
      {link && !change.deleted && <p><a href={link}>Open its page</a></p>}
      {!change.deleted && withBody.has(change.kind) && <Body key={`${change.index}.${change.ordinal}`} change={change} />}
    </Card>
  )
}

function Body({ change }: { change: Change }) {
  const [asked, setAsked] = useState(false)
  const [found, setFound] = useState<{ body?: unknown; error?: unknown; ended?: boolean }>({})
  useEffect(() => {
    if (!asked) return undefined
    const ended = new AbortController()
    bodyOf(change, ended.signal).then((body) => setFound({ body, ended: true }), (error: unknown) => !ended.signal.aborted && setFound({ error, ended: true }))
    return () => ended.abort()
  }, [asked])
  if (!asked) return <button type="button" onClick={() => setAsked(true)}>Show what it wrote</button>
  if (!found.ended) return <Loading rows={3} />
  if (found.error !== undefined) return <Problem error={found.error} />
  if (found.body === undefined) return <p class="calm">A later change has replaced it. Its page shows what is there now.</p>
  return <><h3>It wrote</h3><Json value={found.body} label="What it wrote" /></>
}
