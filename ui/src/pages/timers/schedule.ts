/** A cron expression as a node reads it: each field says which values match. Times are local, as UTC milliseconds. */
export interface Schedule {
  /** Returns the first local time after another one; undefined if there is none. */
  next: (after: number) => number | undefined
}

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *', '@annually': '0 0 1 1 *', '@monthly': '0 0 1 * *', '@weekly': '0 0 * * 0', '@daily': '0 0 * * *', '@midnight': '0 0 * * *', '@hourly': '0 * * * *',
}
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const dayMs = 86_400_000
const yearMax = 2199
/** The days that a search looks at: a leap day of a given weekday comes within 40 years. */
const searchDays = 366 * 41

type DayTest = (day: Date) => boolean

const every = (field: string): boolean => field === '*' || field === '?'

/** Returns the values of a field such as 1-5, 8/2 or mon,fri. It throws if the field has others. */
function valuesOf(field: string, low: number, high: number, names: readonly string[] = []): Set<number> {
  const out = new Set<number>()
  const value = (text: string): number => {
    const named = names.indexOf(text.toLowerCase())
    const n = named >= 0 ? named + (names === months ? 1 : 0) : /^\d+$/.test(text) ? Number(text) : NaN
    if (!(n >= low && n <= high)) throw new Error(`${text} is no value from ${low} to ${high}`)
    return n
  }
  for (const item of field.split(',')) {
    const [range = '', step] = item.split('/')
    const by = step === undefined ? 1 : value(step)
    const [from = '', to] = range.split('-')
    const first = every(range) ? low : value(from)
    const last = every(range) || (to === undefined && step !== undefined) ? high : to === undefined ? first : value(to)
    if (by < 1 || last < first) throw new Error(`${item} is no range`)
    for (let n = first; n <= last; n += by) out.add(n)
  }
  return out
}

const lastOf = (day: Date): number => new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate()

/** Returns the weekday that is nearest to a day of its month. */
function workday(day: Date, of: number): number {
  const last = lastOf(day)
  const weekday = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), of)).getUTCDay()
  if (weekday === 6) return of === 1 ? 3 : of - 1
  if (weekday === 0) return of === last ? of - 2 : of + 1
  return of
}

/** Returns the test of the field of days of the month, with L, L-3, 15W and LW. */
function monthDays(field: string): DayTest {
  const tests = field.split(',').map((item): DayTest => {
    const text = item.toUpperCase()
    const back = /^L(?:-(\d+))?$/.exec(text)
    if (back) return (d) => d.getUTCDate() === lastOf(d) - Number(back[1] ?? 0)
    if (text === 'LW') return (d) => d.getUTCDate() === workday(d, lastOf(d))
    const near = /^(\d+)W$/.exec(text)
    if (near) return (d) => Number(near[1]) <= lastOf(d) && d.getUTCDate() === workday(d, Number(near[1]))
    const values = valuesOf(item, 1, 31)
    return (d) => values.has(d.getUTCDate())
  })
  return (d) => tests.some((t) => t(d))
}

/** Returns the test of the field of days of the week, with MON#2 and FRI#L. */
function weekDays(field: string): DayTest {
  const one = (text: string): number => [...valuesOf(text, 0, 7, days)][0]! % 7
  const tests = field.split(',').map((item): DayTest => {
    const [day = '', nth] = item.split('#')
    if (nth !== undefined) {
      const last = nth.toUpperCase() === 'L'
      const of = one(day)
      return (d) => d.getUTCDay() === of && (last ? d.getUTCDate() + 7 > lastOf(d) : Math.ceil(d.getUTCDate() / 7) === Number(nth))
    }
    const values = valuesOf(item, 0, 7, days)
    return (d) => values.has(d.getUTCDay()) || (d.getUTCDay() === 0 && values.has(7))
  })
  return (d) => tests.some((t) => t(d))
}

/** Reads an expression of five fields, of six (seconds first) or of seven (the year last), or a macro. It throws if it is none. */
export function parse(expression: string): Schedule {
  const text = expression.trim()
  const fields = (text.startsWith('@') ? macros[text.toLowerCase()] ?? '' : text).split(/\s+/)
  if (fields.length < 5 || fields.length > 7) throw new Error('an expression has five, six or seven fields')
  const [second = '', minute = '', hour = '', dom = '', month = '', dow = '', year = '*'] = fields.length === 5 ? ['0', ...fields] : fields
  const seconds = valuesOf(second, 0, 59)
  const minutes = valuesOf(minute, 0, 59)
  const hours = valuesOf(hour, 0, 23)
  const inMonths = valuesOf(month, 1, 12, months)
  const years = every(year) ? undefined : valuesOf(year, 1970, yearMax)
  const inMonth = monthDays(dom)
  const inWeek = weekDays(dow)
  // If neither day field is *, a day matches if one of them does, as in crontab(5).
  const matches: DayTest = (d) => inMonths.has(d.getUTCMonth() + 1) && (!years || years.has(d.getUTCFullYear())) && (every(dom) || every(dow) ? inMonth(d) && inWeek(d) : inMonth(d) || inWeek(d))
  const times = [...hours].flatMap((h) => [...minutes].map((m) => (h * 60 + m) * 60)).sort((a, b) => a - b)
  const ticks = [...seconds].sort((a, b) => a - b)
  return {
    next: (after) => {
      let day = Math.floor(after / dayMs) * dayMs
      for (let n = 0; n < searchDays && new Date(day).getUTCFullYear() <= yearMax; n++, day += dayMs) {
        if (!matches(new Date(day))) continue
        for (const t of times) {
          if (day + (t + 59) * 1000 <= after) continue
          for (const s of ticks) if (day + (t + s) * 1000 > after) return day + (t + s) * 1000
        }
      }
      return undefined
    },
  }
}

/** The local times that a zone skips, or that are over: at most each second of an hour. */
const skippedMax = 3_700

/**
 * Returns the instants of local times as a node computes them: a local time that the zone skips does not
 * occur, and one that it has twice occurs at the later instant.
 */
export function instants(cron: Schedule, zone: string, after: number, count: number): number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' })
  const wall = (at: number): number => {
    const part = Object.fromEntries(format.formatToParts(at).map((p) => [p.type, Number(p.value)]))
    return Date.UTC(part['year']!, part['month']! - 1, part['day'], part['hour'], part['minute'], part['second'])
  }
  const offset = (at: number): number => wall(at) - Math.floor(at / 1000) * 1000
  const out: number[] = []
  // Before clocks go back, local times that repeat are still ahead.
  let local = Math.min(wall(after), wall(after) + offset(after + dayMs) - offset(after))
  for (let tries = 0; out.length < count && tries < count + skippedMax; tries++) {
    const next = cron.next(local)
    if (next === undefined) break
    local = next
    const candidates = [offset(local - dayMs), offset(local + dayMs)].map((o) => local - o).filter((at) => wall(at) === local)
    const at = Math.max(...candidates)
    if (candidates.length > 0 && at > after && at !== out.at(-1)) out.push(at)
  }
  return out
}
