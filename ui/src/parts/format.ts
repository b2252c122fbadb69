const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en')

/** Returns a number that is short from 10,000 on. */
export const short = (n: number): string => (n < 10_000 ? whole.format(n) : compact.format(n))
/** Returns a number with all digits. */
export const full = (n: number): string => whole.format(n)

/** Returns a rate with as many digits as help. */
export const rate = (n: number): string => (n === 0 ? '0' : n < 10 ? n.toFixed(1) : short(Math.round(n)))

/** Returns microseconds as a latency. */
export function latency(us: number): string {
  if (us === 0) return '–'
  if (us < 1000) return `${us} µs`
  if (us < 100_000) return `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`
  return `${(us / 1e6).toFixed(us < 1e7 ? 2 : 0)} s`
}

/** Returns a size in binary units. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let v = n / 1024
  let i = 0
  while (v >= 1024 && i < units.length - 1) {
    v /= 1024
    i++
  }
  return `${v < 10 ? v.toFixed(1) : Math.round(v)} ${units[i]}`
}

/** Returns a word as a shell reads it back: a name in a command that someone copies may hold anything. */
export const quoted = (word: string): string => (/^[\w@%+:,./][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** Returns the count and the noun, which is regular. */
export const plural = (n: number, noun: string): string => `${full(n)} ${noun}${n === 1 ? '' : 's'}`

/** Returns a value as one line of text. */
export function line(value: unknown, most = 240): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const flat = text.length > most ? text.slice(0, most) : text
  return flat.replace(/\s+/g, ' ')
}
