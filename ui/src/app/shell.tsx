import { useLocation } from 'preact-iso/router'
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { current, trouble } from '../api/nodes.js'
import { Empty, Problem } from '../parts/states.js'
import { pages, type PageEntry } from '../pages/index.js'
import { defaultScope, pageOf, scope } from './address.js'
import { useCluster } from './cluster.js'
import { Help } from './help.js'
import { Icon, Logo } from './icons.js'
import { useKeys } from './keys.js'
import { Nav } from './nav.js'

/** The frame around all pages. */
export function Shell() {
  const { path, query, route } = useLocation()
  const [open, setOpen] = useState(false) // the menu, on narrow screens
  const main = useRef<HTMLElement>(null)
  const asked = query['scope'] || defaultScope
  if (scope.value !== asked) scope.value = asked
  useKeys(route)
  useCluster()
  const page = pageOf(path)
  useEffect(() => setOpen(false), [path])
  return (
    <div class="shell">
      <nav aria-label="Skip">
        <a class="skip" href={path} onClick={(e) => {
          e.preventDefault()
          e.stopPropagation()
          main.current?.focus()
        }}>Skip to the content</a>
      </nav>
      <header class="bar">
        <button type="button" class="quiet" aria-expanded={open} aria-controls="nav" onClick={() => setOpen(!open)}><Icon name={open ? 'close' : 'menu'} /><span class="hidden">Menu</span></button>
        <Logo /> <strong>Dormouse</strong>
      </header>
      <Nav page={page} open={open} />
      <main ref={main} tabIndex={0}>
        <Failover />
        <Content key={page + '?' + scope.value} page={pages.find((p) => p.path === page)} path={page} />
      </main>
      <Help />
    </div>
  )
}

/** Says which node does not answer, and which one the page uses instead. */
function Failover() {
  const t = trouble.value
  if (!t) return null
  return (
    <div class={t.using ? 'banner warn' : 'banner bad'} role="status">
      {t.using
        ? `Node ${t.node} does not answer; using ${t.using}.`
        : `Node ${t.node} does not answer. Trying ${current.value.name || new URL(current.value.url).host}…`}
    </div>
  )
}

/** Draws a page once its code has come. */
function Content({ page, path }: { page: PageEntry | undefined; path: string }) {
  const [loaded, setLoaded] = useState<{ is?: ComponentType; error?: unknown }>({})
  useEffect(() => {
    let ended = false
    page?.load().then((m) => !ended && setLoaded({ is: m.default }), (error: unknown) => !ended && setLoaded({ error }))
    return () => {
      ended = true
    }
  }, [page])
  if (!page) return <div class="page"><Empty title={`The console has no page ${path}`}>The menu lists all pages.</Empty></div>
  if (loaded.error) return <div class="page"><Problem error={new Error('The node could not send this page. Load the page again: its version may have changed.')} retry={() => location.reload()} /></div>
  const Is = loaded.is
  return Is ? <Is /> : null
}
