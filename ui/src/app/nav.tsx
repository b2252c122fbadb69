import { useLocation } from 'preact-iso/router'
import { useEffect } from 'preact/hooks'
import { signal } from '@preact/signals'
import { api } from '../api/client.js'
import { current, trouble } from '../api/nodes.js'
import { may, principal, signOut } from '../api/session.js'
import { useCall } from '../api/use.js'
import { groups, pages } from '../pages/index.js'
import { defaultScope, href, scope } from './address.js'
import { cluster } from './cluster.js'
import { Icon, Logo } from './icons.js'
import { helpOpen } from './keys.js'
import { nextTheme, theme } from './theme.js'

/** How many reviews wait for a decision, as the last page of them said. */
export const waiting = signal(0)

/** The menu: pages, scope, and the person who signed in. */
export function Nav({ page, open }: { page: string; open: boolean }) {
  const reviews = useCall((signal) => (may('read') ? api.get('/v1/reviews', { signal, query: { status: 'pending', limit: 100 } }) : Promise.resolve(undefined)), [scope.value], 15_000)
  useEffect(() => {
    waiting.value = reviews.data?.items.length ?? 0
  }, [reviews.data])
  const main = page.split('/')[0]!
  return (
    <nav id="nav" class={open ? 'nav open' : 'nav'} aria-label="Pages">
      <div class="brand"><Logo /> <strong>Dormouse</strong></div>
      <ScopePicker />
      {groups.map((group) => (
        <ul key={group}>
          {pages.filter((p) => p.group === group && (!p.needs || may(p.needs))).map((p) => (
            <li key={p.path}>
              <a href={href(p.path)} aria-current={p.path === main || p.below?.includes(main) ? 'page' : undefined} title={p.jump ? `g ${p.jump}` : undefined}>
                <Icon name={p.icon!} /> {p.title}
                {p.path === 'reviews' && waiting.value > 0 && <span class="count">{waiting.value === 100 ? '100+' : waiting.value}<span class="hidden"> pending</span></span>}
              </a>
            </li>
          ))}
        </ul>
      ))}
      <div class="foot">
        <Connection />
        <div class="foot-buttons">
          <button type="button" class="quiet" onClick={nextTheme} aria-label={`Theme: ${theme.value}`}>{theme.value === 'auto' ? 'Auto' : theme.value === 'dark' ? 'Dark' : 'Light'}</button>
          <button type="button" class="quiet" onClick={() => (helpOpen.value = true)}>Keys <kbd>?</kbd></button>
          {principal.value?.auth !== 'off' && <button type="button" class="quiet" onClick={signOut} title={`Signed in as ${principal.value?.principal ?? ''}`}>Sign out</button>}
        </div>
      </div>
    </nav>
  )
}

/** Chooses the scope of all pages, from those that the person may see. */
function ScopePicker() {
  const { route } = useLocation()
  const scopes = useCall((signal) => api.get('/v1/scopes', { signal, query: { limit: 1000 }, scope: defaultScope }), [principal.value?.principal])
  const names = new Set([scope.value, ...(scopes.data?.items.map((s) => s.name) ?? [])])
  return (
    <label class="scope">
      <span>Scope</span>
      <select value={scope.value} onChange={(e) => route(href('', {}, e.currentTarget.value))}>
        {[...names].sort().map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  )
}

/** Names the node that answers, and the leader. */
function Connection() {
  const bad = trouble.value !== undefined
  const leader = cluster.value?.leader
  const name = current.value.name
  return (
    <p class="connection">
      <span class={`dot ${bad ? 'warn' : 'good'}`} /> {name || 'this node'}{leader ? (leader === name ? ', the leader' : `, leader ${leader}`) : ''}
    </p>
  )
}
