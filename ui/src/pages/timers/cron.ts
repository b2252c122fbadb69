import { instants, parse } from './schedule.js'

/** What reads cron expressions. */
export interface Reader {
  /** Returns an expression in words; empty if the library does not know it. */
  inWords: (expression: string) => string
  /** Returns the next instants of an expression in a zone, in Unix ms. */
  next: (expression: string, zone: string, after: number, count: number) => number[]
}

/** Loads the library that explains cron expressions. */
export async function loadCron(): Promise<Reader> {
  const { default: words } = await import('cronstrue')
  return {
    inWords: (expression) => {
      try {
        return words.toString(expression, { use24HourTimeFormat: true, throwExceptionOnParseError: true })
      } catch {
        return ''
      }
    },
    next: (expression, zone, after, count) => {
      try {
        return instants(parse(expression), zone || 'UTC', after, count)
      } catch {
        return []
      }
    },
  }
}
