import { RefusedError, type Client, type Draft, type Entry, type Op } from '@dormouse/client'
import { canonical } from './codec.js'

/** One change of a session's items: it drops the last ones, then appends others. */
export interface Change {
  drop: number
  /** JSON texts. */
  items: readonly string[]
  operation?: { id: string; hash: string }
}

/** The payload of an entry. */
interface Payload {
  drop?: number
  items?: unknown[]
  operation?: { id: string; hash: string }
  /** Only of a reset: the operations before it. */
  operations?: [id: string, hash: string][]
}

/** How many operations a session remembers when its history is replaced. */
export const operationsMax = 1000

/** The most bytes of the items of one entry, and of one commit. */
const entryBytesMax = 2 << 20
const commitBytesMax = 5 << 20
const commitEntriesMax = 500

/**
 * The items of one session, as the entries of its thread say. Each entry is a change; the items are
 * what all changes make. It keeps what it has read, and then reads only what is new.
 */
export class History {
  private readonly client: Client
  readonly thread: string
  private incarnation = 0
  private rev = 0
  /** JSON texts, in canonical form. */
  items: string[] = []
  operations = new Map<string, string>()

  constructor(client: Client, thread: string) {
    this.client = client
    this.thread = thread
  }

  /** Reads what is new. Afterwards items is what the session holds. */
  async refresh(): Promise<void> {
    for (let more = true; more;) {
      const { answers } = await this.client.read([
        { read: 'get_thread', thread: this.thread },
        { read: 'load_entries', thread: this.thread, from: this.rev },
      ])
      const [thread, page] = answers
      if (thread.error && (thread.error.code === 'not_found' || thread.error.code === 'deleted')) {
        this.reset(0, 0)
        return
      }
      if (thread.error) throw new RefusedError(thread.error)
      const { incarnation, floor } = thread.found
      if (incarnation !== this.incarnation || this.rev < floor) {
        this.reset(incarnation, floor)
        if (floor > 0 || page.error || page.found.items[0]?.seq !== 0) continue
      }
      if (page.error) throw new RefusedError(page.error)
      for (const entry of page.found.items) this.apply(entry)
      more = page.found.next !== null
    }
  }

  /** Returns the last items without reading the others; undefined if that needs the others. */
  async tail(limit: number): Promise<string[] | undefined> {
    if (this.rev > 0 || limit > 1000) return undefined
    const [{ found, error }] = (await this.client.read([{ read: 'load_entries', thread: this.thread, tail: limit }])).answers
    if (error && (error.code === 'not_found' || error.code === 'deleted')) return []
    if (error) throw new RefusedError(error)
    const payloads = found.items.map((each) => each.payload as Payload)
    if (found.next !== null || payloads.some((each) => each.drop || each.operations)) return undefined
    const items = payloads.flatMap((each) => each.items ?? [])
    return items.length >= limit || found.items[0]?.seq === found.floor || found.items.length === 0 ? items.slice(-limit).map(canonical) : undefined
  }

  /** Appends items, whatever the session holds. */
  async append(items: readonly string[]): Promise<void> {
    for (const entries of commits(drafts({ drop: 0, items }))) {
      await this.client.commit([{ op: 'append_thread', thread: this.thread, entries }])
    }
  }

  /** Applies a change if nothing has changed since the refresh. It reports whether it did. */
  async change(change: Change): Promise<boolean> {
    return this.commit([this.conditional(drafts(change))])
  }

  /** Replaces all items, and removes the entries before, if nothing has changed since the refresh. */
  async replaceAll(items: readonly string[]): Promise<boolean> {
    const [first, ...rest] = drafts({ drop: this.items.length, items })
    const payload: Payload = { ...(first!.payload as Payload), operations: [...this.operations].slice(-operationsMax) }
    const ops: Op[] = [this.conditional([{ ...first!, kind: 'reset', payload: payload as Record<string, unknown> }, ...rest])]
    if (this.rev > 0) ops.push({ op: 'compact_thread', thread: this.thread, before_seq: this.rev })
    return this.commit(ops)
  }

  /** Removes all. */
  async clear(): Promise<void> {
    try {
      await this.client.commit([{ op: 'delete_thread', thread: this.thread }])
    } catch (error) {
      if (!(error instanceof RefusedError) || (error.code !== 'not_found' && error.code !== 'deleted')) throw error
    }
  }

  private conditional(entries: Draft[]): Op {
    return { op: 'append_thread', thread: this.thread, entries, expected_rev: this.rev, ...(this.incarnation === 0 ? {} : { if_incarnation: this.incarnation }) }
  }

  private async commit(ops: Op[]): Promise<boolean> {
    try {
      await this.client.commit(ops)
      return true
    } catch (error) {
      if (error instanceof RefusedError && ['conflict', 'deleted', 'not_found'].includes(error.code)) return false
      throw error
    }
  }

  private reset(incarnation: number, floor: number): void {
    this.incarnation = incarnation
    this.rev = floor
    this.items = []
    this.operations = new Map()
  }

  private apply(entry: Entry): void {
    const { drop = 0, items = [], operation, operations } = entry.payload as Payload
    if (entry.kind === 'reset') {
      this.items = []
      this.operations = new Map(operations)
    } else if (drop > 0) {
      this.items.splice(Math.max(0, this.items.length - drop))
    }
    for (const item of items) this.items.push(canonical(item))
    if (operation) this.operations.set(operation.id, operation.hash)
    this.rev = entry.seq + 1
  }
}

/** Returns the entries of a change; several if it is large. */
function drafts({ drop, items, operation }: Change): Draft[] {
  const all: Payload[] = [{ ...(drop > 0 ? { drop } : {}), items: [], ...(operation ? { operation } : {}) }]
  let size = 0
  for (const item of items) {
    const bytes = Buffer.byteLength(item)
    if (size > 0 && size + bytes > entryBytesMax) {
      all.push({ items: [] })
      size = 0
    }
    all.at(-1)!.items!.push(JSON.parse(item))
    size += bytes
  }
  return all.map((payload) => ({ kind: 'items', payload: payload as Record<string, unknown> }))
}

/** Splits entries into those of one commit each. */
function commits(entries: readonly Draft[]): Draft[][] {
  const all: Draft[][] = []
  let size = Infinity
  for (const entry of entries) {
    size += Buffer.byteLength(JSON.stringify(entry.payload))
    if (size > commitBytesMax || all.at(-1)!.length === commitEntriesMax) {
      all.push([])
      size = Buffer.byteLength(JSON.stringify(entry.payload))
    }
    all.at(-1)!.push(entry)
  }
  return all
}
