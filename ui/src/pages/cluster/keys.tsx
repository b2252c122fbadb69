import { useState } from 'preact/hooks'
import type { Schemas } from '../../api/client.js'
import { may } from '../../api/session.js'
import { Badge } from '../../parts/badge.js'
import { Action, Dialog } from '../../parts/dialog.js'
import { Card } from '../../parts/page.js'
import { Command } from '../../parts/states.js'
import { Ago } from '../../parts/time.js'
import { createJoinToken } from './create.js'

const minuteMs = 60_000
const lifetimes: Readonly<Record<string, number>> = { '10 minutes': 10 * minuteMs, 'an hour': 60 * minuteMs, 'a day': 24 * 60 * minuteMs }

/** Creates join tokens, with which nodes that have no cluster key join. */
export function JoinTokens() {
  const [made, setMade] = useState<Schemas['JoinToken'] | undefined>()
  if (!may('cluster:change')) return null
  return (
    <Card title="Join token" side={
      <Action label="Create a join token" title="Create a join token" fields={[{ name: 'ends', label: 'Ends after', value: 'an hour', choices: Object.keys(lifetimes) }]}
        run={async (values) => setMade(await createJoinToken(lifetimes[values['ends']!]!))}>
        <p>A node that starts with the token gets the cluster key, encrypted, and joins. The token cannot be revoked: it ends by itself.</p>
      </Action>
    }>
      <p class="faint">Lets a new node join without a copy of the cluster key. No node keeps a record of it.</p>
      {made && (
        <Dialog title="A join token" close={() => setMade(undefined)}>
          <div class="prose">
            <p>This is the only time that the token is shown. It ends <Ago at={made.expires_at} />. Put it into a file that only the new node may read:</p>
            <Command text={made.token} />
            <Command text="dormoused --node-id n4 --data-dir ./n4 --join-token-file token" />
          </div>
          <div class="buttons"><button type="button" class="solid" onClick={() => setMade(undefined)}>I have copied it</button></div>
        </Dialog>
      )}
    </Card>
  )
}

/** Says how the cluster key is replaced, which no call does. */
export function ClusterKey() {
  return (
    <Card title="Cluster key" side={<Badge text="by hand, on each node" />}>
      <div class="prose">
        <p>The nodes prove this key to each other. To replace it, make a new one, add it as the second line of the key file on every node, and restart the nodes one by one. Then move the new line to the front and restart them again; then remove the old line, and restart them once more.</p>
        <Command text="(umask 077 && dormctl cluster-key > new.key)" />
      </div>
    </Card>
  )
}
