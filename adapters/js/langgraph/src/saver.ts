import { isDeepStrictEqual } from 'node:util'
import { randomUUID } from 'node:crypto'
import { RefusedError, type Client, type Draft, type Op } from '@dormouse/client'
import {
  BaseCheckpointSaver, WRITES_IDX_MAP, type ChannelVersions, type Checkpoint, type CheckpointListOptions, type CheckpointMetadata, type CheckpointTuple,
  type PendingWrite, type SerializerProtocol,
} from '@langchain/langgraph-checkpoint'
import type { RunnableConfig } from '@langchain/core/runnables'
import { dump, join, setOwn, type BlobRef, type CheckpointPayload, type Dumped, type Part, type WritesPayload } from './frame.js'
import { KnownCheckpoints } from './known.js'
import { blobKind, checked, checkpointIdBytesMax, logPrefix, namespaceKind, Space, ThreadName, threadIdBytesMax } from './names.js'
import { Reader } from './reader.js'
import { Writer, type Job } from './writer.js'

/** Values of channels of this size and more are stored apart, once for all checkpoints that share them. */
const blobBytesMin = 32 << 10

/** A larger value is stored in several entries. An entry has at most 4 MiB. */
const partBytesMax = 2 << 20

/** The most bytes of what is stored in one entry: a checkpoint without its large values, or the writes of a task. */
export const entryBytesMax = 3 << 20

const contentType = 'application/vnd.dormouse.langgraph'

/** How a saver stores. */
export interface SaverOptions {
  /** The prefix of the ids of its threads in Dormouse; `langgraph/` if absent. */
  prefix?: string
  serde?: SerializerProtocol
}

/**
 * A checkpointer of LangGraph on Dormouse. Each LangGraph thread is a thread of Dormouse: an
 * append-only log of checkpoints and writes.
 */
export class DormouseSaver extends BaseCheckpointSaver {
  private readonly client: Client
  private readonly prefix: string
  private readonly known = new KnownCheckpoints()
  private readonly reader: Reader
  private readonly writer: Writer

  constructor(client: Client, options: SaverOptions = {}) {
    super(options.serde)
    this.client = client
    this.prefix = options.prefix ?? 'langgraph/'
    this.reader = new Reader(client, () => this.serde, this.known)
    this.writer = new Writer(client, this.known)
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined
    const { name, space, checkpointId } = this.place(config)
    const found = await (checkpointId === undefined ? this.reader.latest(name, space) : this.reader.byId(name, space, checkpointId))
    return found && this.reader.tuple(name, space, found)
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    let left = options.limit ?? Infinity
    for await (const name of this.names(config)) {
      const ns = config.configurable?.checkpoint_ns as string | undefined
      for (const each of ns === undefined ? await this.reader.namespaces(name) : [ns]) {
        for await (const tuple of this.listSpace(name, new Space(each), config, options, left)) {
          if (left <= 0) return
          left -= 1
          yield tuple
          if (left <= 0) return
        }
      }
    }
  }

  async put(config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, newVersions: ChannelVersions): Promise<RunnableConfig> {
    const { name, space, checkpointId: parent } = this.place(config)
    const id = checked('checkpoint.id', checkpoint.id, checkpointIdBytesMax)
    const early = this.known.takeEarly(KnownCheckpoints.key(name.log, space.hash, id))
    const job = this.checkpointJob(name, space, { checkpoint, metadata, newVersions, id, parent, early })
    const [stored] = await this.writer.add(name.log, job)
    if (stored?.skipped) {
      const again = await job
      const [entry] = again.entries
      await this.writer.add(name.log, Promise.resolve({ ...again, needs: again.makes, blobs: [], entries: [{ ...entry!, id: `${space.replaced}.${randomUUID()}`, kind: space.replaced }] }))
    }
    return { configurable: { thread_id: name.threadId, checkpoint_ns: space.ns, checkpoint_id: id } }
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string, taskPath?: string): Promise<void> {
    const { name, space, checkpointId } = this.place(config)
    if (checkpointId === undefined) throw new Error('configurable.checkpoint_id is absent: writes belong to a checkpoint')
    const key = KnownCheckpoints.key(name.log, space.hash, checkpointId)
    if (this.known.get(key) === undefined) this.known.addEarly(key)
    await this.writer.add(name.log, this.writesJob(name, space, checkpointId, { writes, task: taskId, path: taskPath }))
  }

  /**
   * Deletes all checkpoints and writes of a thread, in one commit. Writes of runs that began before
   * are refused from then on, also those that are under way.
   */
  async deleteThread(threadId: string): Promise<void> {
    const name = this.name(threadId)
    await this.writer.idle(name.log)
    for (;;) {
      const [log, blobs] = (await this.threads(name)) as [{ incarnation: number } | undefined, { incarnation: number } | undefined]
      const ops: Op[] = []
      if (log) ops.push({ op: 'delete_thread', thread: name.log, if_incarnation: log.incarnation })
      if (blobs) ops.push({ op: 'delete_thread', thread: name.blobs, if_incarnation: blobs.incarnation })
      if (ops.length === 0) return
      try {
        await this.client.commit(ops)
      } catch (error) {
        // Another call deleted or created it meanwhile.
        if (!(error instanceof RefusedError) || !['conflict', 'deleted', 'not_found'].includes(error.code)) throw error
      }
    }
  }

  /**
   * Creates a thread that shares all checkpoints of another, in one commit. It copies no values. Later
   * changes of either thread do not show in the other.
   */
  async copyThread(sourceId: string, targetId: string): Promise<void> {
    const source = this.name(sourceId)
    const target = this.name(targetId)
    const [log, blobs] = (await this.threads(source)) as [{ incarnation: number } | undefined, { incarnation: number } | undefined]
    if (!log) throw new Error(`thread ${JSON.stringify(sourceId)} does not exist`)
    const ops: Op[] = [{ op: 'fork_thread', thread: source.log, id: target.log, if_incarnation: log.incarnation }]
    if (blobs) ops.push({ op: 'fork_thread', thread: source.blobs, id: target.blobs, if_incarnation: blobs.incarnation })
    await this.client.commit(ops)
  }

  private threads(name: ThreadName): Promise<unknown[]> {
    return this.reader.read([{ read: 'get_thread', thread: name.log }, { read: 'get_thread', thread: name.blobs }])
  }

  private name(threadId: unknown): ThreadName {
    return new ThreadName(this.prefix, checked('thread_id', threadId, threadIdBytesMax))
  }

  private place(config: RunnableConfig): { name: ThreadName; space: Space; checkpointId: string | undefined } {
    const { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } = (config.configurable ?? {}) as Record<string, unknown>
    const absent = id === undefined || id === null || id === ''
    return {
      name: this.name(threadId),
      space: new Space((ns as string | undefined) ?? ''),
      checkpointId: absent ? undefined : checked('checkpoint_id', id, checkpointIdBytesMax),
    }
  }

  private async *names(config: RunnableConfig): AsyncGenerator<ThreadName, void, undefined> {
    const threadId = config.configurable?.thread_id as string | undefined
    if (threadId !== undefined) {
      yield this.name(threadId)
      return
    }
    const prefix = logPrefix(this.prefix)
    for (let after: string | undefined; ;) {
      const page = await this.client.threads.list({ prefix, limit: 100, ...(after === undefined ? {} : { after }) })
      for (const { id } of page.items) yield new ThreadName(this.prefix, id.slice(prefix.length))
      if (!page.next) return
      after = page.next
    }
  }

  private async *listSpace(name: ThreadName, space: Space, config: RunnableConfig, options: CheckpointListOptions, left: number): AsyncGenerator<CheckpointTuple> {
    const only = config.configurable?.checkpoint_id as string | undefined
    const before = options.before?.configurable?.checkpoint_id as string | undefined
    for await (const { entry, incarnation } of this.reader.checkpoints(name, space, Math.min(left, 50) || 1)) {
      const { id } = entry.payload as unknown as CheckpointPayload
      if ((only && id !== only) || (before && id >= before)) continue
      if (options.filter) {
        const metadata = await this.reader.metadata(entry)
        if (!Object.entries(options.filter).every(([key, value]) => isDeepStrictEqual(metadata[key], value))) continue
      }
      const tuple = await this.reader.tuple(name, space, { entry, incarnation, writes: await this.reader.writes(name, space, id) })
      if (tuple) yield tuple
    }
  }

  private register(space: Space): Draft {
    return { id: space.id, kind: namespaceKind, payload: { ns: space.ns } }
  }

  private async checkpointJob(
    name: ThreadName, space: Space,
    what: { checkpoint: Checkpoint; metadata: CheckpointMetadata; newVersions: ChannelVersions; id: string; parent: string | undefined; early: boolean },
  ): Promise<Job> {
    const { id, parent, metadata } = what
    const key = (ns: string, checkpointId: string): string => KnownCheckpoints.key(name.log, new Space(ns).hash, checkpointId)
    const { channel_values: values, ...checkpoint } = what.checkpoint
    // The first checkpoint of a subgraph belongs to the checkpoint of its parent graph.
    const ancestors = [...(parent === undefined ? [] : [key(space.ns, parent)]), ...Object.entries(metadata.parents ?? {}).map(([ns, each]) => key(ns, each))]
    const needs = ancestors.find((each) => this.known.get(each) !== undefined)
    const stored = await this.channels(name, space, what, values ?? {}, needs === undefined ? {} : this.known.get(needs)!.blobs)
    const parts: (Dumped & { name: string })[] = await Promise.all([
      dump(this.serde, checkpoint).then((each) => ({ ...each, name: 'checkpoint' })),
      dump(this.serde, metadata).then((each) => ({ ...each, name: 'metadata' })),
    ])
    parts.push(...stored.inline)
    const payload: CheckpointPayload = { id, parts: parts.map(partOf) }
    if (parent !== undefined) payload.parent = parent
    if (what.early) payload.early = true
    if (Object.keys(stored.blobs).length > 0) payload.blobs = stored.blobs
    const makes = key(space.ns, id)
    if (this.known.get(makes) === undefined) this.known.set(makes, { incarnation: undefined, blobs: stored.blobs })
    return {
      name, needs, makes, blobs: stored.drafts, register: this.register(space),
      // The checkpoint before it in the namespace has named the namespace.
      registered: parent !== undefined && needs === key(space.ns, parent),
      entries: [draft({ id: space.checkpoint(id), kind: space.checkpoints, payload: payload as unknown as Record<string, unknown> }, parts)],
    }
  }

  /** Sorts the values of channels into small ones, which the checkpoint's entry holds, and blobs. */
  private async channels(
    name: ThreadName, space: Space, what: { checkpoint: Checkpoint; newVersions: ChannelVersions; parent: string | undefined },
    values: Record<string, unknown>, before: Readonly<Record<string, BlobRef>>,
  ): Promise<{ inline: (Dumped & { name: string })[]; blobs: Record<string, BlobRef>; drafts: Draft[] }> {
    const out = { inline: [] as (Dumped & { name: string })[], blobs: {} as Record<string, BlobRef>, drafts: [] as Draft[] }
    const versions = what.checkpoint.channel_versions ?? {}
    const changed = (channel: string): boolean => what.newVersions === undefined || Object.hasOwn(what.newVersions, channel)
    const same = Object.keys(values).filter((channel) => !changed(channel) && versions[channel] !== undefined)
    // Without a parent there is nothing that an unchanged value could be unchanged from, unless the thread holds it: a copy of a first checkpoint.
    const held = what.parent === undefined ? await this.held(name, space, same, versions) : undefined
    for (const [channel, value] of Object.entries(values)) {
      if (!changed(channel)) {
        if (held && !held.has(channel)) continue
        const ref = Object.hasOwn(before, channel) ? before[channel] : undefined
        if (ref && ref.version === versions[channel]) {
          setOwn(out.blobs, channel, ref)
          continue
        }
      }
      const dumped = await dump(this.serde, value)
      if (dumped.bytes.length < blobBytesMin) {
        out.inline.push({ ...dumped, name: channel })
        continue
      }
      const drafts = blobDrafts(dumped.bytes)
      out.drafts.push(...drafts)
      setOwn(out.blobs, channel, { version: versions[channel] ?? 0, type: dumped.type, parts: drafts.map((each) => each.id!) })
    }
    return out
  }

  /** Returns which of the channels a checkpoint of the thread holds at the same version. */
  private async held(name: ThreadName, space: Space, channels: readonly string[], versions: ChannelVersions): Promise<Set<string>> {
    const held = new Set<string>()
    if (channels.length === 0) return held
    for await (const { entry } of this.reader.checkpoints(name, space, 50)) {
      const payload = entry.payload as unknown as CheckpointPayload
      const { checkpoint } = await this.reader.parts(payload, entry.bytes)
      for (const channel of channels) {
        const stored = Object.hasOwn(checkpoint.channel_values, channel) || Object.hasOwn(payload.blobs ?? {}, channel)
        if (stored && checkpoint.channel_versions[channel] === versions[channel]) held.add(channel)
      }
      if (held.size === channels.length) break
    }
    return held
  }

  private async writesJob(name: ThreadName, space: Space, checkpointId: string, what: { writes: PendingWrite[]; task: string; path: string | undefined }): Promise<Job> {
    const needs = KnownCheckpoints.key(name.log, space.hash, checkpointId)
    if (this.known.get(needs) === undefined && this.known.incarnation(name.log) === undefined && !this.writer.busy(name.log)) {
      const incarnation = await this.reader.incarnation(name)
      if (incarnation !== undefined) this.known.saw(name.log, incarnation)
    }
    const parts = await Promise.all(what.writes.map(async ([channel, value], at) => ({ ...(await dump(this.serde, value)), name: channel, idx: WRITES_IDX_MAP[channel] ?? at })))
    const payload: WritesPayload = { checkpoint: checkpointId, task: what.task, ...(what.path ? { path: what.path } : {}), parts: parts.map((each) => ({ ...partOf(each), idx: each.idx })) }
    return {
      name, needs, makes: undefined, blobs: [], register: this.register(space), registered: true,
      entries: [draft({ kind: space.writes(checkpointId), payload: payload as unknown as Record<string, unknown> }, parts)],
    }
  }
}

const partOf = ({ name, type, bytes }: Dumped & { name: string }): Part => ({ name, type, size: bytes.length })

function draft(entry: Draft, parts: readonly { bytes: Uint8Array }[]): Draft {
  const bytes = join(parts)
  if (bytes.length > entryBytesMax) throw new Error(`${entry.kind} has ${bytes.length} bytes: one checkpoint without its large values, or the writes of one task, may have at most ${entryBytesMax}`)
  return { ...entry, content_type: contentType, bytes: bytes.toString('base64') }
}

function blobDrafts(bytes: Uint8Array): Draft[] {
  const all: Draft[] = []
  for (let at = 0; at < bytes.length; at += partBytesMax) {
    all.push({ id: randomUUID(), kind: blobKind, content_type: contentType, bytes: Buffer.from(bytes.subarray(at, at + partBytesMax)).toString('base64') })
  }
  return all
}
