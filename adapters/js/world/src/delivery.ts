import { setTimeout as pause } from 'node:timers/promises'
import { RefusedError, type Client, type Op } from '@dormouse/client'
import type { Keys } from './keys.js'
import type { Owner } from './owner.js'
import { again as wantedAgain, messageKey, post, type Message } from './queue.js'
import { get, put, remove, scan } from './store.js'

/** The wait in ms before a message is tried again: it doubles, up to a bound. */
const retryMs = 500
const retryMsMax = 30_000

/** How long a message waits for a run that another process owns, in ms. */
const ownedMs = 500

/** How often a message is delivered before it is given up. The runtime gives up earlier. */
export const deliveriesMax = 256

/** How long a message that was given up is kept, in ms. */
const deadMs = 7 * 24 * 3_600_000

/** setTimeout takes no more. */
const timeoutMsMax = 2 ** 31 - 1

/** How a process delivers. */
export interface DeliveryOptions {
  /** Where the HTTP handlers of this process are. */
  baseUrl: () => string
  /** How many messages are delivered at a time. */
  concurrency: number
  report: (error: unknown) => void
}

/** Delivers messages to the HTTP handlers of this process, each at least once. */
export class Delivery {
  private readonly client: Client
  private readonly keys: Keys
  private readonly owner: Owner
  private readonly options: DeliveryOptions
  private readonly stopped = new AbortController()
  /** The messages that this process knows, each with its timer while it waits. */
  private readonly known = new Map<string, ReturnType<typeof setTimeout> | undefined>()
  /** The keys of known messages that were stored meanwhile: an id may come again once its message is done. */
  private readonly again = new Set<string>()
  private readonly underWay = new Set<Promise<void>>()
  private readonly ready: Message[] = []
  private started = false

  constructor(client: Client, keys: Keys, owner: Owner, options: DeliveryOptions) {
    this.client = client
    this.keys = keys
    this.owner = owner
    this.options = options
  }

  /** Delivers what is stored, and what is stored from now on by any process. */
  async start(): Promise<void> {
    if (this.started) return
    this.started = true
    try {
      void this.keepFollowing(await this.scan())
    } catch (error) {
      this.started = false
      throw error
    }
  }

  /** Delivers a message when it is due. */
  add(message: Message, waitMs = message.due - Date.now()): void {
    const key = messageKey(this.keys, message)
    if (!this.started || this.stopped.signal.aborted) return
    if (this.known.has(key)) this.again.add(key)
    else this.schedule(key, message, waitMs)
  }

  /** Stops, and waits for the handlers that run. */
  async close(): Promise<void> {
    this.stopped.abort(new Error('the world is closed'))
    for (const timer of this.known.values()) clearTimeout(timer)
    this.known.clear()
    await Promise.allSettled(this.underWay)
  }

  private schedule(key: string, message: Message, waitMs: number): void {
    this.known.set(key, setTimeout(() => {
      if (message.due > Date.now()) return this.schedule(key, message, message.due - Date.now())
      this.known.set(key, undefined)
      this.ready.push(message)
      this.next()
    }, Math.min(Math.max(0, waitMs), timeoutMsMax)))
  }

  /** Forgets a message that is done, unless one with its key was stored since. */
  private async forget(key: string): Promise<void> {
    const stored = this.again.delete(key) ? await get<Message>(this.client, key) : undefined
    this.known.delete(key)
    if (stored) this.add(stored)
    else if (this.again.has(key)) await this.forget(key)
  }

  private next(): void {
    while (this.underWay.size < this.options.concurrency) {
      const message = this.ready.shift()
      if (!message) return
      const key = messageKey(this.keys, message)
      const work: Promise<void> = this.handle(key, message).then(
        (retry) => retry === undefined ? this.forget(key) : this.schedule(key, retry.message, retry.waitMs),
        (error: unknown) => {
          this.options.report(error)
          this.schedule(key, message, retryMsMax)
        },
      ).finally(() => {
        this.underWay.delete(work)
        if (!this.stopped.signal.aborted) this.next()
      })
      this.underWay.add(work)
    }
  }

  /** Delivers a message once. It returns when to look at it again; undefined if it is done. */
  private async handle(key: string, known: Message): Promise<{ message: Message; waitMs: number } | undefined> {
    const hold = await this.owner.take(known.run)
    if (!hold) return await get(this.client, key) === undefined ? undefined : { message: known, waitMs: ownedMs }
    try {
      // The owner before may have changed it, or be done with it.
      const message = await get<Message>(this.client, key)
      if (message === undefined) return undefined
      if (message.due > Date.now()) return { message, waitMs: message.due - Date.now() }
      const after = await this.deliver(message, hold.fence, AbortSignal.any([hold.signal, this.stopped.signal]))
      const delay = after && Math.max(0, after.due - Date.now())
      try {
        await this.client.commit(after ? [put(key, after)] : this.done(key, message), { fence: hold.fence })
      } catch (error) {
        // Another process owns the run now, and delivers the message again.
        if (error instanceof RefusedError && error.code === 'fenced') return { message, waitMs: ownedMs }
        throw error
      }
      return after && { message: after, waitMs: delay! }
    } finally {
      this.owner.release(known.run, hold)
    }
  }

  /** Posts a message, and returns it as it is to be delivered next; undefined if it is done. */
  private async deliver(message: Message, fence: { claim: string; epoch: number }, signal: AbortSignal): Promise<Message | undefined> {
    const deliveries = message.deliveries + 1
    const retryAt = (): number => Date.now() + Math.min(retryMsMax, retryMs * 2 ** Math.min(message.deliveries, 10)) * (0.5 + Math.random() / 2)
    let answer
    try {
      answer = await post(this.options.baseUrl(), message, fence, signal)
    } catch (error) {
      // No handler has counted it as an attempt.
      if (!signal.aborted) this.options.report(new Error(`message ${message.id} was not delivered`, { cause: error }))
      return { ...message, due: retryAt() }
    }
    if (answer.ok) {
      const seconds = wantedAgain(answer.text)
      return seconds === undefined ? undefined : { ...message, deliveries, due: Date.now() + seconds * 1000 }
    }
    this.options.report(new Error(`message ${message.id} failed, delivery ${deliveries}: ${answer.text}`))
    return deliveries < deliveriesMax ? { ...message, deliveries, due: retryAt() } : undefined
  }

  /** Returns the ops that end a message. One that was given up is kept for a while. */
  private done(key: string, message: Message): Op[] {
    if (message.deliveries + 1 < deliveriesMax) return [remove(key)]
    return [remove(key), put(this.keys.dead(message.id), message, undefined, deadMs)]
  }

  /** Adds all messages, and returns the index from which the feed has what comes after. */
  private async scan(): Promise<number> {
    // The feed begins before the scan, so that no message is missed between them.
    const { index } = await this.client.read([{ read: 'list_values', prefix: this.keys.messages(), limit: 1 }])
    for await (const { body } of scan<Message>(this.client, this.keys.messages())) this.add(body)
    return index + 1
  }

  /** Follows the feed from an index on. After an error it reads all messages again, until this process stops. */
  private async keepFollowing(index: number): Promise<void> {
    const { signal } = this.stopped
    for (let from: number | undefined = index; ;) {
      try {
        await this.follow(from ?? await this.scan())
      } catch (error) {
        if (!signal.aborted) this.options.report(error)
      }
      if (signal.aborted) return
      from = undefined
      await pause(retryMs, undefined, { signal }).catch(() => undefined)
    }
  }

  private async follow(index: number): Promise<void> {
    const { signal } = this.stopped
    for await (const { change } of this.client.changes({ prefix: `values/${this.keys.messages()}`, fromIndex: index, signal })) {
      if (change.deleted) {
        // Another process has done it.
        const timer = this.known.get(change.key)
        clearTimeout(timer)
        if (timer !== undefined) this.known.delete(change.key)
        continue
      }
      const message = await get<Message>(this.client, change.key)
      if (message) this.add(message)
    }
  }
}
