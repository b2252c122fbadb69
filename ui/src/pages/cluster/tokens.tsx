import { useState } from 'preact/hooks'
import { api, type Schemas } from '../../api/client.js'
import { principal } from '../../api/session.js'
import { defaultScope } from '../../app/address.js'
import { Action, Dialog } from '../../parts/dialog.js'
import { Command, Empty } from '../../parts/states.js'
import { PagedTable, usePages, type Column } from '../../parts/table.js'
import { Ago } from '../../parts/time.js'
import { createToken } from './create.js'
import { ClusterKey, JoinTokens } from './keys.js'
import { NewToken } from './newtoken.js'

type Token = Schemas['Token']
type Grant = Schemas['Grant']

/** Returns grants in one line, such as "read write on team-*". */
const grantsText = (grants: readonly Grant[]): string =>
  grants.map((g) => `${(g.verbs ?? []).join(' ')}${g.scopes?.length ? ` on ${g.scopes.join(' ')}` : ''}`).join('; ')

/** The tokens: created with grants, replaced, and revoked. Their secrets are shown once. */
export function Tokens() {
  const pages = usePages((after, signal) => api.get('/v1/tokens', { signal, scope: defaultScope, query: { limit: 500, ...(after ? { after } : {}) } }), [])
  const [creating, setCreating] = useState(false)
  const [made, setMade] = useState<{ token: Schemas['CreatedToken']; of?: string } | undefined>()
  const show = (token: Schemas['CreatedToken'], of?: string): void => {
    setCreating(false)
    setMade({ token, ...(of ? { of } : {}) })
    pages.reload()
  }
  const own = principal.value?.token_id
  const columns: Column<Token>[] = [
    { head: 'Principal', width: 'minmax(0, 1fr)', cell: (t) => <><strong>{t.principal}</strong>{t.id === own && <span class="faint"> yours</span>}</> },
    { head: 'Id', width: 'minmax(0, 1fr)', wide: true, cell: (t) => <span class="mono faint">{t.id}</span> },
    { head: 'Grants', width: 'minmax(0, 2fr)', wide: true, cell: (t) => <span title={grantsText(t.grants)}>{grantsText(t.grants)}</span> },
    { head: 'Used', width: '84px', number: true, wide: true, cell: (t) => <Ago at={t.last_used} none="not lately" /> },
    { head: 'Expires', width: '80px', number: true, wide: true, cell: (t) => <Ago at={t.expires_at} none="never" /> },
    { head: 'Created', width: '84px', number: true, wide: true, cell: (t) => <Ago at={t.created_at} /> },
    { head: 'Actions', width: '156px', number: true, cell: (t) => <TokenActions token={t} own={t.id === own} made={show} revoked={pages.reload} /> },
  ]
  return (
    <>
      <div class="filters">
        <button type="button" class="solid" onClick={() => setCreating(true)}>Create a token</button>
        <span class="faint">The cluster keeps a hash of each secret. A principal has at most two tokens, so that one can replace the other.</span>
      </div>
      <PagedTable label="Tokens" columns={columns} pages={pages} keyOf={(t) => t.id} empty={<Empty title="There is no token" command="dormctl tokens create --principal ci --scope 'team-*' --can read,write" />} />
      <JoinTokens />
      <ClusterKey />
      {creating && <NewToken close={() => setCreating(false)} made={show} />}
      {made && <Secret {...made} close={() => setMade(undefined)} />}
    </>
  )
}

function TokenActions({ token, own, made, revoked }: { token: Token; own: boolean; made: (token: Schemas['CreatedToken'], of: string) => void; revoked: () => void }) {
  return (
    <div class="row-actions">
      <Action label="Replace" title={`Replace the token of ${token.principal}`} run={async () => {
        made(await createToken({ principal: token.principal, grants: token.grants, ...(token.expires_at ? { ttl_ms: Math.max(1, token.expires_at - token.created_at) } : {}) }), token.id)
      }}>
        <p>This creates a second token of {token.principal} with the same grants. Give its secret to the callers, then revoke <code>{token.id}</code>.</p>
      </Action>
      <Action label="Revoke" title={`Revoke the token ${token.id}`} danger typed={token.principal} done={revoked} run={() => api.delete('/v1/tokens/{id}', { scope: defaultScope, params: { id: token.id } })}>
        <p>Calls with this token of {token.principal} are refused from then on. {own && <strong>You are signed in with it: the console signs you out.</strong>}</p>
      </Action>
    </div>
  )
}

/** Shows a secret, once. */
function Secret({ token, of, close }: { token: Schemas['CreatedToken']; of?: string; close: () => void }) {
  return (
    <Dialog title={`The token of ${token.principal}`} close={close}>
      <div class="prose">
        <p>This is the only time that the secret is shown. Copy it now.</p>
        <Command text={token.secret ?? ''} />
        <p class="faint">{token.id}: {grantsText(token.grants)}</p>
        {of && <p>When all callers have it, revoke <code>{of}</code>.</p>}
      </div>
      <div class="buttons"><button type="button" class="solid" onClick={close}>I have copied it</button></div>
    </Dialog>
  )
}
