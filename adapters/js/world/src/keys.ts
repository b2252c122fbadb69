import { createHash } from 'node:crypto'

/** Names of threads, values and claims below one prefix. */
export class Keys {
  readonly prefix: string

  constructor(prefix: string) {
    this.prefix = prefix
  }

  /** The thread of a run's events. */
  events = (run: string): string => `${this.prefix}events/${run}`
  /** The values of runs. */
  runs = (): string => `${this.prefix}run/`
  run = (run: string): string => this.runs() + run
  /** The values of the steps, waits and hooks of a run. */
  steps = (run: string): string => `${this.prefix}step/${run}/`
  waits = (run: string): string => `${this.prefix}wait/${run}/`
  hooks = (run?: string): string => `${this.prefix}hook/${run === undefined ? '' : `${run}/`}`
  /** The value that says which run has a hook. */
  hookOwner = (hook: string): string => `${this.prefix}hook-owner/${hook}`
  /** The value that says which hook has a token. Tokens may be long. */
  token = (token: string): string => `${this.prefix}token/${digest(token)}`
  /** The values that say which runs have a correlation id. */
  correlated = (correlation: string): string => `${this.prefix}correlated/${correlation}/`
  /** The values of the messages of the queue that are not done. */
  messages = (): string => `${this.prefix}message/`
  /** The values of messages that were given up. */
  dead = (message: string): string => `${this.prefix}dead/${message}`
  /** The threads of a run's streams. */
  streams = (run: string): string => `${this.prefix}stream/${run}/`
  /** The claim for a run: one process runs it. */
  owner = (run: string): string => `${this.prefix}owner/${run}`
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns an id that may be part of a key, or throws an error that says what is wrong with it. */
export function checkId(name: string, id: string): string {
  if (!/^[\w.:@-]{1,200}$/.test(id)) throw new Error(`${name} ${JSON.stringify(id)} is not valid: use 1 to 200 letters, digits and _ . : @ -`)
  return id
}
