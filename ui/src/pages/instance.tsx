import { useLocation } from 'preact-iso/router'
import { api, codeOf, type Schemas } from '../api/client.js'
import { useCall } from '../api/use.js'
import { href, scope } from '../app/address.js'
import { Badge } from '../parts/badge.js'
import { Json } from '../parts/json.js'
import { Card, Facts, PageFrame } from '../parts/page.js'
import { Empty, Loading, Problem, Shown } from '../parts/states.js'
import { Ago } from '../parts/time.js'
import { may } from '../api/session.js'
import { pages } from './index.js'
import { InstanceActions } from './instances/actions.js'
import { IdleLeft } from './instances/idle.js'
import { SignalCard } from './instances/signal.js'
import { WatchCard } from './instances/watch.js'

type Instance = Schemas['Instance']

/** One instance: how it is, how it changes, what is stored of it, and what a person may do with it. */
export default function InstancePage() {
  const { query } = useLocation()
  const ref = { manager: query['manager'] ?? '', key: query['key'] ?? '' }
  const back = { href: href('instances', { manager: ref.manager }), text: ref.manager || 'Instances' }
  const found = useCall((signal) => api.get('/v1/managers/{manager}/instances/{key}', { signal, params: ref }), [scope.value, ref], 2_000)
  const instance = found.data
  if (!ref.manager || !ref.key) return <PageFrame title="Instance" back={back}><Empty title="The address names no instance" command="dormctl instances ls MANAGER" /></PageFrame>
  const missing = codeOf(found.error) === 'not_found'
  if (!instance && !missing) return <PageFrame title={ref.key} back={back}>{found.error ? <Problem error={found.error} retry={found.reload} /> : <Loading />}</PageFrame>
  const present = missing ? undefined : instance
  return (
    <PageFrame title={ref.key} back={back} actions={<InstanceActions of={ref} status={present?.status} reload={found.reload} />} about={present
      ? <><Badge text={present.status} /> {present.node && <>on {present.node} · </>}partition <span class="mono">{may('cluster:read') ? <a href={href('placement', ref)}>{present.partition}</a> : present.partition}</span> · epoch <span class="mono">{present.epoch}</span></>
      : <span class="faint">Nothing of it is awake, and nothing is stored. A signal starts it.</span>}>
      <div class="columns">
        <div class="aside">
          {present && <State of={present} />}
          <SignalCard of={ref} done={found.reload} />
        </div>
        <div class="aside">
          <WatchCard of={ref} onChange={found.reload} />
          {present && present.revision > 0 && <StoredState of={present} />}
        </div>
      </div>
    </PageFrame>
  )
}

function State({ of }: { of: Instance }) {
  const agent = of.thread.id
  return (
    <Card title="State">
      <Facts of={[
        ['Attachments', of.attachments],
        ['Mailbox', of.mailbox === 0 ? 'empty' : `${of.mailbox} waiting`],
        ['Hibernates in', <IdleLeft of={of} />],
        ['Revision', <span class="mono">{of.revision}</span>],
        ['Thread', of.thread.rev > 0 ? <a href={href('thread', { id: agent })}>{of.thread.rev} entries</a> : 'none'],
        ['Agent', of.revision > 0 ? <a href={href('agent', { id: agent })}>{agent}</a> : <span class="faint">not stored yet</span>],
        ...(pages.some((p) => p.path === 'timers') ? [['Timers', <a href={href('timers', { manager: of.manager, prefix: of.key })}>of this instance</a>] as const] : []),
      ]} />
    </Card>
  )
}

/** The state of the instance as its checkpoint has it. */
function StoredState({ of }: { of: Instance }) {
  const found = useCall((signal) => api.get('/v1/checkpoints/{key}', { signal, params: { key: of.thread.id } }), [scope.value, of.thread.id, of.revision])
  return (
    <Card title="Stored state" side={found.data && <span class="faint"><Ago at={found.data.updated_at} /></span>}>
      <Shown of={found} rows={3}>{(c) => <Json value={c.state} label="Stored state" />}</Shown>
    </Card>
  )
}
