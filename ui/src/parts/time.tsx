import { signal } from '@preact/signals'

/** The present time, to the second. */
export const now = signal(Date.now())
setInterval(() => {
  if (document.visibilityState !== 'hidden') now.value = Date.now()
}, 1000)

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

/** Returns an instant in full: in the reader's zone, and in UTC to the millisecond. */
export const exactly = (ms: number): string => `${exact.format(ms)}\n${new Date(ms).toISOString()}`

/** Returns a duration in its largest unit, such as "4 min". */
export function span(ms: number): string {
  const s = Math.abs(ms) / 1000
  if (s < 1) return `${Math.round(Math.abs(ms))} ms`
  if (s < 60) return `${Math.floor(s)} s`
  if (s < 3600) return `${Math.floor(s / 60)} min`
  if (s < 86_400) return `${Math.floor(s / 3600)} h`
  return `${Math.floor(s / 86_400)} d`
}

/** Shows an instant as its distance from now; the exact instant is its title. */
export function Ago({ at, none = '–' }: { at: number | undefined; none?: string }) {
  if (!at) return <span class="faint">{none}</span>
  const distance = now.value - at
  const text = Math.abs(distance) < 1000 ? 'now' : distance > 0 ? `${span(distance)} ago` : `in ${span(distance)}`
  return <time dateTime={new Date(at).toISOString()} title={exactly(at)}>{text}</time>
}

/** Shows the time of day, and the day unless it is today. */
export function Clock({ at }: { at: number }) {
  const today = new Date(at).toDateString() === new Date(now.value).toDateString()
  return <time class="mono" dateTime={new Date(at).toISOString()} title={exactly(at)}>{today ? '' : `${day.format(at)} `}{clock.format(at)}</time>
}
