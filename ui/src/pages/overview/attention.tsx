import { useCall } from '../../api/use.js'
import { href, scope } from '../../app/address.js'
import { Card } from '../../parts/page.js'
import { Shown } from '../../parts/states.js'
import { pages } from '../index.js'
import { matters, type Matter } from './matters.js'

/** What needs a person: reviews, sessions, jobs, timers, handlers and moves. */
export function Attention() {
  const found = useCall(matters, [scope.value], 10_000)
  return (
    <Card title="Needs a person" side={<span class="faint">in scope {scope.value}</span>}>
      <Shown of={found} rows={2}>{(all) => (all.length === 0
        ? <p class="calm">Nothing needs you now: no pending reviews, no failed jobs or sessions, no crashed handlers.</p>
        : <ul class="matters">{all.map((m) => <li key={m.text}><span class={`dot ${m.tone}`} /> <To matter={m} /> {m.about && <span class="faint">{m.about}</span>}</li>)}</ul>)}
      </Shown>
    </Card>
  )
}

/** Links to the page of a matter, if the console has it. */
function To({ matter }: { matter: Matter }) {
  if (!pages.some((p) => p.path === matter.page)) return <strong>{matter.text}</strong>
  return <a href={href(matter.page, matter.query)}>{matter.text}</a>
}
