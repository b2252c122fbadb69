import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { pages } from '../pages/index.js'
import { href } from './address.js'

/** The dialog with the keys is open. */
export const helpOpen = signal(false)

/** How long the second key of a jump may take. */
const jumpMs = 1_200

/** Reports whether keys go to a field or a dialog. */
function typing(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]')) return true
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
}

/** Acts on the keys of the console: g and a letter open a page, / goes to the search, ? shows the keys. */
export function useKeys(route: (url: string) => void): void {
  useEffect(() => {
    let jumpBy = 0
    const pressed = (e: KeyboardEvent): void => {
      if (e.ctrlKey || e.metaKey || e.altKey) return
      if (e.key === 'Escape' && typing(e.target) && e.target instanceof HTMLInputElement && e.target.type === 'search') {
        e.target.blur()
        return
      }
      if (typing(e.target)) return
      const page = Date.now() < jumpBy ? pages.find((p) => p.jump === e.key) : undefined
      jumpBy = 0
      if (page) route(href(page.path))
      else if (e.key === 'g') jumpBy = Date.now() + jumpMs
      else if (e.key === '?') helpOpen.value = true
      else if (e.key === '/') {
        const search = document.querySelector<HTMLInputElement>('[data-search]')
        if (!search) return
        search.focus()
        search.select()
      } else return
      e.preventDefault()
    }
    addEventListener('keydown', pressed)
    return () => removeEventListener('keydown', pressed)
  }, [])
}
