import { computed, effect, signal } from '@preact/signals'

const key = 'dormouse.theme'
const system = matchMedia('(prefers-color-scheme: dark)')
const systemDark = signal(system.matches)
system.addEventListener('change', () => (systemDark.value = system.matches))

/** What the person chose: auto follows the system. */
export type Theme = 'auto' | 'light' | 'dark'
export const theme = signal<Theme>((localStorage.getItem(key) as Theme | null) ?? 'auto')
export const dark = computed(() => (theme.value === 'auto' ? systemDark.value : theme.value === 'dark'))

effect(() => {
  document.documentElement.dataset['theme'] = dark.value ? 'dark' : 'light'
  if (theme.value === 'auto') localStorage.removeItem(key)
  else localStorage.setItem(key, theme.value)
})

/** Changes to the next theme. */
export function nextTheme(): void {
  theme.value = theme.value === 'auto' ? 'light' : theme.value === 'light' ? 'dark' : 'auto'
}
