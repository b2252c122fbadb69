import type { Message } from './queue.js'

/** The first wait for a run that another process owns, in ms. It doubles up to the ttl of a claim. */
export const ownedMs = 500

/** The messages that wait for runs that other processes own. */
export class Waiting {
  private readonly waitMsMax: number
  private readonly messages = new Map<string, { message: Message; waitMs: number }>()

  constructor(waitMsMax: number) {
    this.waitMsMax = waitMsMax
  }

  /** Adds a wait of a message, and returns how long it is at most, in ms. */
  add(key: string, message: Message): number {
    const waitMs = Math.min(2 * (this.messages.get(key)?.waitMs ?? ownedMs / 2), this.waitMsMax)
    this.messages.set(key, { message, waitMs })
    return waitMs
  }

  /** Forgets a message: it has its run, or is done. */
  remove(key: string): void {
    this.messages.delete(key)
  }

  /** Forgets all messages. */
  clear(): void {
    this.messages.clear()
  }

  /** Returns the messages that wait for a run, by their keys, and forgets them. */
  freed(run: string): [string, Message][] {
    const found = [...this.messages].filter(([, { message }]) => message.run === run)
    for (const [key] of found) this.messages.delete(key)
    return found.map(([key, { message }]) => [key, message])
  }
}
