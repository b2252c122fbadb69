import { signal } from '@preact/signals'

/** The path of /ui/ as the browser sees it: behind a proxy it may begin with another path. */
export const base: string = new URL('./', document.baseURI).pathname

/** The base URL of the HTTP API of the node that served the page. */
export const root: string = new URL('..', document.baseURI).href.replace(/\/$/, '')

export const defaultScope = 'default'

/** The scope that the page shows: the one in its address. */
export const scope = signal(new URLSearchParams(location.search).get('scope') || defaultScope)

/** Returns the address of a page, with the scope, so that it can be sent to another person. */
export function href(page: string, query: Record<string, string | number | undefined> = {}, of = scope.value): string {
  const all = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') all.set(name, String(value))
  if (of !== defaultScope) all.set('scope', of)
  const text = all.toString().replaceAll('%2F', '/').replaceAll('%3A', ':')
  return base + page + (text ? '?' + text : '')
}

/** Returns the name of the page in a path. */
export const pageOf = (path: string): string => (path + '/').startsWith(base) ? path.slice(base.length).replace(/\/$/, '') : ''
