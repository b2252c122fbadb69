import { useLocation } from 'preact-iso/router'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { may, type Verb } from '../api/session.js'
import { href } from '../app/address.js'
import { PageFrame } from '../parts/page.js'
import { Audit } from './cluster/audit.js'
import { Backups } from './cluster/backups.js'
import { Members } from './cluster/members.js'
import { Quotas } from './cluster/quotas.js'
import { Settings } from './cluster/settings.js'
import { SlowCalls } from './cluster/slow.js'
import { Tokens } from './cluster/tokens.js'

interface Tab {
  name: string
  title: string
  needs?: Verb
  is: ComponentType
}

const tabs: readonly Tab[] = [
  { name: 'members', title: 'Members', needs: 'cluster:read', is: Members },
  { name: 'settings', title: 'Settings', needs: 'cluster:change', is: Settings },
  { name: 'backups', title: 'Backups', needs: 'cluster:backup', is: Backups },
  { name: 'audit', title: 'Audit log', needs: 'cluster:change', is: Audit },
  { name: 'tokens', title: 'Tokens and keys', needs: 'tokens:change', is: Tokens },
  { name: 'quotas', title: 'Quotas', is: Quotas },
  { name: 'slow', title: 'Slow calls', needs: 'cluster:change', is: SlowCalls },
]

/** What operators look after: settings, members, backups, the audit log, tokens, quotas and slow calls. */
export default function Cluster() {
  const { query } = useLocation()
  const offered = tabs.filter((t) => !t.needs || may(t.needs))
  const asked = query['tab']
  const tab = tabs.find((t) => t.name === asked) ?? offered[0]!
  useEffect(() => {
    document.title = `${tab.title} · Cluster · Dormouse`
  })
  const Is = tab.is
  return (
    <PageFrame fill title="Cluster" about={<>What operators look after. <code>docs/operations.md</code> explains it; the calls are in the <a href={new URL('../openapi.json', document.baseURI).href}>OpenAPI document</a>.</>}>
      <nav class="tabs" aria-label="Parts of the cluster">
        {offered.map((t) => <a key={t.name} href={href('cluster', { tab: t.name })} aria-current={t === tab ? 'page' : undefined}>{t.title}</a>)}
      </nav>
      {tab.needs && !may(tab.needs)
        ? <div class="problem" role="alert"><p><strong>You may not see this</strong><code>forbidden</code></p><p>Your token does not include {tab.needs}. Ask who gives tokens for one that does.</p></div>
        : <Is key={tab.name} />}
    </PageFrame>
  )
}
