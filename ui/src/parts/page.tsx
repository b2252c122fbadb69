import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

/** A page: its title, what it is about, its actions and its content. */
export function PageFrame({ title, about, actions, children, fill, back }: {
  title: string
  about?: ComponentChildren
  actions?: ComponentChildren
  children: ComponentChildren
  /** The content scrolls by itself, and has the height that is left. */
  fill?: boolean
  back?: { href: string; text: string }
}) {
  useEffect(() => {
    document.title = `${title} · Dormouse`
  }, [title])
  return (
    <div class={fill ? 'page fill' : 'page'}>
      <header class="page-head">
        <div class="page-title">
          {back && <a class="crumb" href={back.href}>{back.text}</a>}
          <h1>{title}</h1>
          {about && <div class="about">{about}</div>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      <div class="page-body">{children}</div>
    </div>
  )
}

/** A card with a title. */
export function Card({ title, side, children, flush }: { title: string; side?: ComponentChildren; children: ComponentChildren; flush?: boolean }) {
  return (
    <section class={flush ? 'card flush' : 'card'} aria-label={title}>
      <header><h2>{title}</h2>{side && <div class="side">{side}</div>}</header>
      <div class="card-body">{children}</div>
    </section>
  )
}

/** A list of names and values. */
export function Facts({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) {
  return <dl class="facts">{of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
}
