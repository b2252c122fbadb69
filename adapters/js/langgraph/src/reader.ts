import { RefusedError, type Client, type Entry, type Read } from '@dormouse/client'
import { compareWritesSortKeys, maxChannelVersion, TASKS, writesSortKey, type Checkpoint, type CheckpointPendingWrite, type CheckpointTuple, type SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { setOwn, split, type BlobRef, type CheckpointPayload, type WritesPayload } from './frame.js'
import { KnownCheckpoints } from './known.js'
import { namespaceKind, Space, type ThreadName } from './names.js'

/** How many of the last entries a read of the latest checkpoint asks for: its writes are among them in most cases. */
const tailEntries = 12

/** How many parts of blobs one call reads: an answer has at most 16 MiB. */
const partsOfCall = 6

type Page = { items: Entry[]; next: number | null }

/** A checkpoint's entry with the entries of its writes. */
export interface Found {
  entry: Entry
  writes: Entry[]
  incarnation: number
}

/** Thrown if the values of a checkpoint vanish while it is read: its thread was deleted. */
class VanishedError extends Error {}

/** Reads checkpoints. */
export class Reader {
  private readonly client: Client
  private readonly serde: () => SerializerProtocol
  private readonly known: KnownCheckpoints

  constructor(client: Client, serde: () => SerializerProtocol, known: KnownCheckpoints) {
    this.client = client
    this.serde = serde
    this.known = known
  }

  /** Returns the checkpoint that was stored last, in one call unless it has large values or many writes. */
  async latest(name: ThreadName, space: Space): Promise<Found | undefined> {
    const [thread, last, replaced, tail] = await this.read([
      { read: 'get_thread', thread: name.log },
      { read: 'load_entries', thread: name.log, kinds: [space.checkpoints], tail: 1 },
      { read: 'load_entries', thread: name.log, kinds: [space.replaced] },
      { read: 'load_entries', thread: name.log, tail: tailEntries },
    ])
    const entry = (last as Page | undefined)?.items[0]
    if (!thread || !entry) return undefined
    const { id, early } = entry.payload as unknown as CheckpointPayload
    const kind = space.writes(id)
    const { items, next } = tail as Page
    // If its writes come after the checkpoint, they are all in a whole tail if the checkpoint is.
    const whole = !early && next === null && items.some((each) => each.seq === entry.seq)
    const writes = whole ? items.filter((each) => each.kind === kind) : await this.entries(name.log, [kind])
    return { entry: await this.newest(name, space, entry, replaced as Page), writes, incarnation: (thread as { incarnation: number }).incarnation }
  }

  /** Returns a checkpoint by its id, in one call unless it has large values. */
  async byId(name: ThreadName, space: Space, checkpointId: string): Promise<Found | undefined> {
    const kind = space.writes(checkpointId)
    const [thread, entry, replaced, writes] = await this.read([
      { read: 'get_thread', thread: name.log },
      { read: 'get_entry', thread: name.log, entry: space.checkpoint(checkpointId) },
      { read: 'load_entries', thread: name.log, kinds: [space.replaced] },
      { read: 'load_entries', thread: name.log, kinds: [kind] },
    ])
    if (!thread || !entry) return undefined
    return {
      entry: await this.newest(name, space, entry as Entry, replaced as Page),
      writes: await this.rest(name.log, [kind], writes as Page),
      incarnation: (thread as { incarnation: number }).incarnation,
    }
  }

  /** Returns the incarnation of a thread; undefined if it does not exist. */
  async incarnation(name: ThreadName): Promise<number | undefined> {
    const [thread] = await this.read([{ read: 'get_thread', thread: name.log }])
    return (thread as { incarnation: number } | undefined)?.incarnation
  }

  /** Returns the namespaces of a thread. */
  async namespaces(name: ThreadName): Promise<string[]> {
    return (await this.entries(name.log, [namespaceKind])).map((each) => (each.payload as { ns: string }).ns)
  }

  /** Passes on the entries of checkpoints, the last first. */
  async *checkpoints(name: ThreadName, space: Space, limit: number): AsyncGenerator<{ entry: Entry; incarnation: number }, void, undefined> {
    const replaced = new Map((await this.entries(name.log, [space.replaced])).map((each) => [(each.payload as unknown as CheckpointPayload).id, each]))
    for (let to: number | undefined; ;) {
      const [thread, page] = await this.read([
        { read: 'get_thread', thread: name.log },
        { read: 'load_entries', thread: name.log, kinds: [space.checkpoints], order: 'desc', limit, ...(to === undefined ? {} : { to }) },
      ])
      if (!thread || !page) return
      const { items, next } = page as Page
      for (const entry of items) {
        const { id } = entry.payload as unknown as CheckpointPayload
        yield { entry: replaced.get(id) ?? entry, incarnation: (thread as { incarnation: number }).incarnation }
      }
      if (next === null) return
      to = next
    }
  }

  /** Returns the writes to a checkpoint. */
  writes(name: ThreadName, space: Space, checkpointId: string): Promise<Entry[]> {
    return this.entries(name.log, [space.writes(checkpointId)])
  }

  /** Returns the checkpoint as LangGraph takes it; undefined if its thread was deleted meanwhile. */
  async tuple(name: ThreadName, space: Space, found: Found): Promise<CheckpointTuple | undefined> {
    const payload = found.entry.payload as unknown as CheckpointPayload
    this.known.saw(name.log, found.incarnation)
    this.known.set(KnownCheckpoints.key(name.log, space.hash, payload.id), { incarnation: found.incarnation, blobs: payload.blobs ?? {} })
    const config = (id: string) => ({ configurable: { thread_id: name.threadId, checkpoint_ns: space.ns, checkpoint_id: id } })
    try {
      const [{ checkpoint, metadata }, blobs, pendingWrites] = await Promise.all([
        this.parts(payload, found.entry.bytes), this.blobs(name, payload.blobs ?? {}), this.pending(found.writes),
      ])
      for (const [channel, value] of blobs) setOwn(checkpoint.channel_values, channel, value)
      if (checkpoint.v < 4 && payload.parent !== undefined) await this.migrate(name, space, checkpoint, payload.parent)
      return { config: config(payload.id), checkpoint, metadata, pendingWrites, ...(payload.parent === undefined ? {} : { parentConfig: config(payload.parent) }) }
    } catch (error) {
      if (error instanceof VanishedError) return undefined
      throw error
    }
  }

  /** Returns the metadata of a checkpoint's entry. */
  async metadata(entry: Entry): Promise<Record<string, unknown>> {
    const payload = entry.payload as unknown as CheckpointPayload
    for (const [part, bytes] of split(payload.parts, entry.bytes)) {
      if (part.name === 'metadata') return this.serde().loadsTyped(part.type, bytes)
    }
    throw new Error(`entry ${entry.id} has no metadata: another program wrote it`)
  }

  /** Returns the checkpoint with its small values. */
  async parts(payload: CheckpointPayload, bytes: string | undefined): Promise<Required<Pick<CheckpointTuple, 'checkpoint' | 'metadata'>>> {
    const [checkpoint, metadata, ...channels] = await Promise.all(
      [...split(payload.parts, bytes)].map(async ([part, each]) => ({ name: part.name, value: await this.serde().loadsTyped(part.type, each) })),
    )
    const values: Record<string, unknown> = {}
    for (const { name, value } of channels) setOwn(values, name, value)
    return { checkpoint: { ...checkpoint!.value, channel_values: values }, metadata: metadata!.value }
  }

  private async blobs(name: ThreadName, refs: Record<string, BlobRef>): Promise<[string, unknown][]> {
    const ids = Object.values(refs).flatMap((each) => each.parts)
    const bytes = new Map<string, Buffer>()
    const calls = []
    for (let at = 0; at < ids.length; at += partsOfCall) {
      calls.push(this.read(ids.slice(at, at + partsOfCall).map((entry) => ({ read: 'get_entry', thread: name.blobs, entry }))))
    }
    for (const entry of (await Promise.all(calls)).flat() as (Entry | undefined)[]) {
      if (!entry) throw new VanishedError()
      bytes.set(entry.id, Buffer.from(entry.bytes ?? '', 'base64'))
    }
    return Promise.all(Object.entries(refs).map(async ([channel, ref]): Promise<[string, unknown]> => [
      channel, await this.serde().loadsTyped(ref.type, Buffer.concat(ref.parts.map((id) => bytes.get(id)!))),
    ]))
  }

  /** A checkpoint before version 4 has the sends of its parent's tasks as a channel. */
  private async migrate(name: ThreadName, space: Space, checkpoint: Checkpoint, parent: string): Promise<void> {
    const pending = await this.pending(await this.writes(name, space, parent))
    const versions = Object.values(checkpoint.channel_versions)
    checkpoint.channel_values[TASKS] = pending.filter(([, channel]) => channel === TASKS).map(([, , value]) => value)
    checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : 1
  }

  /** Of two writes of one task at one index the first counts; of a negative index, such as that of errors, the last. */
  private async pending(entries: readonly Entry[]): Promise<CheckpointPendingWrite[]> {
    const all = new Map<string, { key: ReturnType<typeof writesSortKey>; task: string; channel: string; type: string; bytes: Uint8Array }>()
    for (const entry of entries) {
      const { task, path, parts } = entry.payload as unknown as WritesPayload
      for (const [part, bytes] of split(parts, entry.bytes)) {
        const at = `${task},${part.idx}`
        if (part.idx >= 0 && all.has(at)) continue
        all.set(at, { key: writesSortKey(path ?? '', task, part.idx), task, channel: part.name, type: part.type, bytes })
      }
    }
    const sorted = [...all.values()].sort((a, b) => compareWritesSortKeys(a.key, b.key))
    return Promise.all(sorted.map(async ({ task, channel, type, bytes }): Promise<CheckpointPendingWrite> => [task, channel, await this.serde().loadsTyped(type, bytes)]))
  }

  /** Returns the entry of the last put of a checkpoint that was put more than once. */
  private async newest(name: ThreadName, space: Space, entry: Entry, replaced: Page): Promise<Entry> {
    const { id } = entry.payload as unknown as CheckpointPayload
    const all = await this.rest(name.log, [space.replaced], replaced)
    return all.findLast((each) => (each.payload as unknown as CheckpointPayload).id === id) ?? entry
  }

  private async entries(thread: string, kinds: string[]): Promise<Entry[]> {
    const [page] = await this.read([{ read: 'load_entries', thread, kinds }])
    return page ? this.rest(thread, kinds, page as Page) : []
  }

  private async rest(thread: string, kinds: string[], page: Page): Promise<Entry[]> {
    const all = [...page.items]
    for (let from = page.next; from !== null;) {
      const [more] = await this.read([{ read: 'load_entries', thread, kinds, from }])
      if (!more) return all
      all.push(...(more as Page).items)
      from = (more as Page).next
    }
    return all
  }

  /** Returns what each read found; undefined for what does not exist. */
  async read(reads: Read[]): Promise<unknown[]> {
    const { answers } = await this.client.read(reads)
    return answers.map(({ found, error }) => {
      if (!error) return found
      if (error.code === 'not_found' || error.code === 'deleted') return undefined
      throw new RefusedError(error)
    })
  }
}
