import { randomUUID } from 'node:crypto'
import type { Client } from '@dormouse/client'
import {
  applySessionHistoryMutations, UserError, type AgentInputItem, type SessionHistoryRewriteArgs, type SessionHistoryRewriteAwareSession,
  type SessionHistoryTransactionArgs, type SessionHistoryTransactionAwareSession,
} from '@openai/agents-core'
import { canonical, decode, encode, hash } from './codec.js'
import { History, type Change } from './history.js'

/** The longest session id, in bytes of UTF-8. */
export const sessionIdBytesMax = 400

/** How often a change is tried again if others change the same session. */
const triesMax = 100

/** How a session is stored. */
export interface SessionOptions {
  /** A new random id if absent. */
  sessionId?: string
  /** The prefix of the id of its thread in Dormouse; `openai-agents/` if absent. */
  prefix?: string
}

/** The history of a conversation on Dormouse, for any number of processes at a time. */
export class DormouseSession implements SessionHistoryRewriteAwareSession, SessionHistoryTransactionAwareSession {
  private readonly sessionId: string
  private readonly history: History
  private last: Promise<unknown> = Promise.resolve()

  constructor(client: Client, options: SessionOptions = {}) {
    this.sessionId = options.sessionId ?? randomUUID()
    const bytes = Buffer.byteLength(this.sessionId)
    if (bytes === 0 || bytes > sessionIdBytesMax) throw new UserError(`sessionId has ${bytes} bytes: give 1 to ${sessionIdBytesMax}`)
    this.history = new History(client, `${options.prefix ?? 'openai-agents/'}${this.sessionId}`)
  }

  async getSessionId(): Promise<string> {
    return this.sessionId
  }

  getItems(limit?: number): Promise<AgentInputItem[]> {
    return this.inTurn(async () => {
      if (limit !== undefined && limit <= 0) return []
      const tail = limit === undefined ? undefined : await this.history.tail(Math.floor(limit))
      if (tail) return tail.map(itemOf)
      await this.history.refresh()
      return (limit === undefined ? this.history.items : this.history.items.slice(-limit)).map(itemOf)
    })
  }

  /** Appends items in one commit, if they have at most 5 MiB together. */
  addItems(items: AgentInputItem[]): Promise<void> {
    const texts = items.map(textOf)
    return this.inTurn(async () => {
      if (texts.length > 0) await this.history.append(texts)
    })
  }

  /** Removes and returns the last item. Of calls at a time, in any processes, no two return the same item. */
  popItem(): Promise<AgentInputItem | undefined> {
    return this.inTurn(async () => {
      const [popped] = await this.change(({ items }) => (items.length === 0 ? undefined : { change: { drop: 1, items: [] }, result: items.at(-1) }))
      return popped === undefined ? undefined : itemOf(popped)
    })
  }

  /** Removes all items, also from the disks, and the operations of transactions. */
  clearSession(): Promise<void> {
    return this.inTurn(() => this.history.clear())
  }

  /** Replaces items in one commit. */
  applyHistoryMutations({ mutations }: SessionHistoryRewriteArgs): Promise<void> {
    return this.inTurn(async () => {
      if (mutations.length === 0) return
      await this.change(({ items }) => {
        const next = applySessionHistoryMutations(items.map(itemOf), mutations).map(textOf)
        let same = 0
        while (same < next.length && next[same] === items[same]) same++
        return same === next.length && same === items.length ? undefined : { change: { drop: items.length - same, items: next.slice(same) } }
      })
    })
  }

  /** Applies a transaction once: its operation id and its change are one commit. */
  applyHistoryTransaction({ operationId, transaction }: SessionHistoryTransactionArgs): Promise<void> {
    if (typeof operationId !== 'string' || operationId.trim() === '') throw new UserError('operationId is empty: give an id that stays the same when the transaction is tried again')
    const drop = transaction.type === 'replace_suffix' ? transaction.expectedSuffix.map(textOf) : []
    const items = (transaction.type === 'replace_suffix' ? transaction.replacement : transaction.items).map(textOf)
    const operation = { id: encode(operationId) as string, hash: hash(canonical([transaction.type, drop, items])) }
    return this.inTurn(async () => {
      await this.change((history) => {
        const applied = history.operations.get(operation.id)
        if (applied === operation.hash) return undefined
        if (applied !== undefined) throw new UserError(`operation ${JSON.stringify(operationId)} was already applied with a different transaction`)
        const suffix = drop.length === 0 ? [] : history.items.slice(-drop.length)
        if (suffix.length !== drop.length || suffix.some((each, at) => each !== drop[at])) {
          throw new UserError('the history does not end with expectedSuffix: read the session again')
        }
        return { change: { drop: drop.length, items, operation } }
      })
    })
  }

  /** Replaces all items in one commit, and removes those before from the disks. */
  replaceHistoryWithCompaction(items: AgentInputItem[]): Promise<void> {
    const texts = items.map(textOf)
    return this.inTurn(async () => {
      for (let tries = 1; ; tries++) {
        await this.history.refresh()
        if (await this.history.replaceAll(texts)) return
        await this.pause(tries)
      }
    })
  }

  /** Decides on a change from what the session holds, and tries again if that has changed before the commit. */
  private async change(decide: (history: History) => { change: Change; result?: string | undefined } | undefined): Promise<[result?: string]> {
    for (let tries = 1; ; tries++) {
      await this.history.refresh()
      const decided = decide(this.history)
      if (!decided) return []
      if (await this.history.change(decided.change)) return decided.result === undefined ? [] : [decided.result]
      await this.pause(tries)
    }
  }

  private async pause(tries: number): Promise<void> {
    if (tries === triesMax) throw new Error(`session ${JSON.stringify(this.sessionId)} was changed by others ${triesMax} times in a row: try again`)
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(100, 5 * tries)))
  }

  /** Runs one call of this object at a time. */
  private inTurn<T>(call: () => Promise<T>): Promise<T> {
    const done = this.last.then(call)
    this.last = done.catch(() => undefined)
    return done
  }
}

const itemOf = (text: string): AgentInputItem => decode(JSON.parse(text)) as AgentInputItem
const textOf = (item: AgentInputItem): string => canonical(encode(item))
