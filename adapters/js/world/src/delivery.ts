import { setTimeout as pause } from 'node:timers/promises'
import { RefusedError, type ClaimHold, type Client, type Op } from '@dormouse/client'
import type { Keys } from './keys.js'
import { afterAnswer, afterNoAnswer, retryMs, retryMsMax, type Outcome } from './outcome.js'
import type { Owner } from './owner.js'
import { messageKey, post, type Message } from './queue.js'
import { get, put, remove, scan } from './store.js'
import { ownedMs, Waiting } from './waiting.js'

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
  /** How long close waits for the handlers that run, in ms. */
  closeTimeoutMs: number
  report: (error: unknown) => void
}

/** A message to look at again, and in how many ms. */
interface Later {
  message: Message
  waitMs: number
}

/** Delivers messages to the HTTP handlers of this process, each at least once. */
export class Delivery {
  private readonly client: Client
  private readonly keys: Keys
  private readonly owner: Owner
  private readonly options: DeliveryOptions
  /** Aborted by close: nothing new begins. */
  private readonly stopped = new AbortController()
  /** Aborted when close no longer waits for the handlers that run. */
  private readonly ended = new AbortController()
  /** The messages that this process knows, each with its timer while it waits. */
  private readonly known = new Map<string, ReturnType<typeof setTimeout> | undefined>()
  /** The keys of known messages that were stored meanwhile: an id may come again once its message is done. */
  private readonly again = new Set<string>()
  private readonly waiting: Waiting
  private readonly underWay = new Set<Promise<void>>()
  private readonly ready: Message[] = []
  private following: Promise<unknown> | undefined
  private started = false

  constructor(client: Client, keys: Keys, owner: Owner, options: DeliveryOptions) {
    this.client = client
    this.keys = keys
    this.owner = owner
    this.options = options
    this.waiting = new Waiting(owner.ttlMs)
  }

  /** Delivers what is stored, and what is stored from now on by any process. */
  async start(): Promise<void> {
    if (this.started) return
    this.started = true
    try {
      const index = await this.scan()
      this.following = Promise.all([
        this.keepFollowing(async (from) => this.follow(from ?? await this.scan()), index),
        this.keepFollowing((from) => this.followOwners(from), index),
      ])
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

  /** Stops, and waits for the handlers that run. After closeTimeoutMs it ends their requests. */
  async close(): Promise<void> {
    this.stopped.abort(new Error('the world is closed'))
    for (const timer of this.known.values()) clearTimeout(timer)
    this.known.clear()
    this.again.clear()
    this.waiting.clear()
    this.ready.length = 0
    const timer = setTimeout(() => this.ended.abort(new Error('the world is closed')), this.options.closeTimeoutMs)
    await Promise.allSettled([...this.underWay, this.following])
    clearTimeout(timer)
  }

  /** Delivers a message after a wait, unless this process stops. */
  private schedule(key: string, message: Message, waitMs: number): void {
    if (this.stopped.signal.aborted) return
    this.known.set(key, setTimeout(() => {
      if (message.due > Date.now()) return this.schedule(key, message, message.due - Date.now())
      this.known.set(key, undefined)
      this.ready.push(message)
      this.next()
    }, Math.min(Math.max(0, waitMs), timeoutMsMax)))
  }

  /** Forgets a message that is done, unless one with its key was stored since. */
  private async forget(key: string): Promise<void> {
    if (this.stopped.signal.aborted) return
    this.waiting.remove(key)
    const stored = this.again.delete(key) ? await get<Message>(this.client, key) : undefined
    this.known.delete(key)
    if (stored) this.add(stored)
    else if (this.again.has(key)) await this.forget(key)
  }

  private next(): void {
    while (!this.stopped.signal.aborted && this.underWay.size < this.options.concurrency) {
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
        this.next()
      })
      this.underWay.add(work)
    }
  }

  /** Delivers a message once. It returns when to look at it again; undefined if it is done. */
  private async handle(key: string, known: Message): Promise<Later | undefined> {
    const hold = await this.owner.take(known.run)
    if (!hold) return await get(this.client, key) === undefined ? undefined : { message: known, waitMs: this.waiting.add(key, known) }
    this.waiting.remove(key)
    try {
      // The owner before may have changed it, or be done with it.
      const message = await get<Message>(this.client, key)
      if (message === undefined) return undefined
      if (message.due > Date.now()) return { message, waitMs: message.due - Date.now() }
      if (this.stopped.signal.aborted) return { message, waitMs: 0 }
      return await this.deliver(key, message, hold)
    } finally {
      this.owner.release(known.run, hold)
    }
  }

  /** Posts a message and stores what comes after. It returns when to look at the message again; undefined if it ended. */
  private async deliver(key: string, message: Message, hold: ClaimHold): Promise<Later | undefined> {
    const outcome = await this.attempt(message, hold)
    if (!outcome) return { message, waitMs: ownedMs }
    try {
      await this.client.commit(this.changes(key, outcome), { fence: hold.fence })
    } catch (error) {
      // Another process owns the run now, and delivers the message again.
      if (error instanceof RefusedError && error.code === 'fenced') return { message, waitMs: ownedMs }
      throw error
    }
    return outcome.kind === 'again' ? { message: outcome.message, waitMs: outcome.message.due - Date.now() } : undefined
  }

  /** Posts a message. It returns undefined if the request was ended: the claim was lost, or this process stops. */
  private async attempt(message: Message, hold: ClaimHold): Promise<Outcome | undefined> {
    const signal = AbortSignal.any([hold.signal, this.ended.signal])
    let answer
    try {
      answer = await post(this.options.baseUrl(), message, hold.fence, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      this.options.report(new Error(`message ${message.id} was not delivered`, { cause: error }))
      return { kind: 'again', message: afterNoAnswer(message) }
    }
    if (!answer.ok) this.options.report(new Error(`message ${message.id} failed, delivery ${message.deliveries + 1}: ${answer.text}`))
    return afterAnswer(message, answer)
  }

  /** Returns the ops that store an outcome. A message that was given up is kept for a while. */
  private changes(key: string, outcome: Outcome): Op[] {
    switch (outcome.kind) {
      case 'done': return [remove(key)]
      case 'again': return [put(key, outcome.message)]
      case 'given up': return [remove(key), put(this.keys.dead(outcome.message.id), outcome.message, undefined, deadMs)]
    }
  }

  /** Adds all messages, and returns the index from which the feed has what comes after. */
  private async scan(): Promise<number> {
    // The feed begins before the scan, so that no message is missed between them.
    const { index } = await this.client.read([{ read: 'list_values', prefix: this.keys.messages(), limit: 1 }])
    for await (const { body } of scan<Message>(this.client, this.keys.messages())) {
      if (this.stopped.signal.aborted) break
      this.add(body)
    }
    return index + 1
  }

  /** Follows a feed from an index on, and after an error from no index, until this process stops. */
  private async keepFollowing(follow: (from?: number) => Promise<void>, index?: number): Promise<void> {
    const { signal } = this.stopped
    for (let from = index; !signal.aborted; from = undefined) {
      try {
        await follow(from)
      } catch (error) {
        if (!signal.aborted) this.options.report(error)
      }
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
        if (timer !== undefined) {
          this.known.delete(change.key)
          this.waiting.remove(change.key)
        }
        continue
      }
      const message = await get<Message>(this.client, change.key)
      if (message) this.add(message)
    }
  }

  /** Delivers the messages of a run once no process owns it. A message that this misses is looked at again after its wait. */
  private async followOwners(index?: number): Promise<void> {
    const { signal } = this.stopped
    const owners = this.keys.owner('')
    for await (const { change } of this.client.changes({ prefix: `claims/${owners}`, ...(index === undefined ? {} : { fromIndex: index }), signal })) {
      if (!change.deleted) continue
      for (const [key, message] of this.waiting.freed(change.key.slice(owners.length))) {
        const timer = this.known.get(key)
        if (timer === undefined) continue
        clearTimeout(timer)
        this.schedule(key, message, 0)
      }
    }
  }
}
