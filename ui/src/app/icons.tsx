/** The icons, as paths in a square of 16. */
const paths = {
  overview: 'M2 9h3l2-5 3 9 2-4h2',
  placement: 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z',
  agents: 'M8 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.6-2.6 2.7-4 5.5-4s4.900 1.400 5.500 4',
  sessions: 'M2 3h12v8H7l-3 3v-3H2z',
  reviews: 'M2 9h3.500l1 2h3l1-2H14M2 9l2-6h8l2 6v4H2z',
  instances: 'M9 1.500 3 9h4l-.5 5.500L13 7H9z',
  pods: 'M8 5a1.800 1.800 0 1 0 0-3.600A1.800 1.800 0 0 0 8 5zM3.500 14.600a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zM12.500 14.600a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zM8 5v3M3.500 11V8h9v3',
  memory: 'M8 3C6 1.600 3 2.500 3 5c-1.500 1-1.500 4 0 5 0 2.500 3 4 5 2.500C10 14 13 12.500 13 10c1.500-1 1.500-4 0-5 0-2.500-3-3.400-5-2zM8 3v10',
  timers: 'M8 14.500a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8 5v3.500l2.500 1.500',
  conversations: 'M2 2.500h9v6H6L3.500 11V8.500H2zM13 6v5h-1.500v2L9.500 11H7',
  files: 'M3 1.500h6l4 4v9H3zM9 1.500v4h4',
  changes: 'M2 4h8M2 8h12M2 12h6',
  cluster: 'M2.500 2.500h11v4h-11zM2.500 9.500h11v4h-11zM5 4.500h.01M5 11.500h.01',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3 3l10 10M13 3 3 13',
}

export type IconName = keyof typeof paths

/** An icon. It says nothing to screen readers: the text beside it does. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round" stroke-linecap="round">
      <path d={paths[name]} />
    </svg>
  )
}

/** The head of a dormouse. */
export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg class="logo" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
      <circle cx="5.500" cy="6.500" r="4.500" class="logo-ear" />
      <circle cx="18.500" cy="6.500" r="4.500" class="logo-ear" />
      <ellipse cx="12" cy="13.500" rx="9" ry="8.500" class="logo-face" />
      <path d="M6.800 12.500q1.700 1.700 3.400 0M13.800 12.500q1.700 1.700 3.400 0" class="logo-line" />
      <ellipse cx="12" cy="17" rx="1.500" ry="1.100" class="logo-nose" />
    </svg>
  )
}
