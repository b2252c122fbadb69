import { RefusedError, type Client, type Draft, type Op } from '@dormouse/client'
import type { KnownCheckpoints } from './known.js'
import type { ThreadName } from './names.js'

/** The most bytes and entries of one commit of the adapter. A cluster takes 8 MiB and 1,024 entries. */
const commitBytesMax = 4 << 20
const commitEntriesMax = 500

/** One call of put or putWrites, ready to be sent. */
export interface Job {
  name: ThreadName
  /** The key of a checkpoint that must exist; undefined for the first of a thread. */
  needs: string | undefined
  /** The key of the checkpoint that this job stores. */
  makes: string | undefined
  /** Names the namespace of the entries. */
  register: Draft
  /** Whether register is stored already, or is stored with the checkpoint of these writes. */
  registered: boolean
  entries: Draft[]
  blobs: Draft[]
}

/** What the cluster said about the entries of a job: whether each existed before. */
export type Stored = { id: string; skipped?: boolean }[]

interface Waiting {
  job: Promise<Job>
  resolve: (stored: Stored) => void
  reject: (error: unknown) => void
}

interface Loaded extends Waiting {
  ready: Job
}

const sizeOf = (drafts: readonly Draft[]): number => drafts.reduce((sum, each) => sum + (each.bytes?.length ?? 0) * 0.75 + 512, 0)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * Sends the writes of a process. The writes to one thread are sent in the order in which they were
 * made, one commit at a time; a commit takes all that wait. So the writes of a step's tasks and the
 * checkpoint after it are one commit.
 */
export class Writer {
  private readonly client: Client
  private readonly known: KnownCheckpoints
  private readonly lanes = new Map<string, { waiting: Waiting[]; done: Promise<void> }>()

  constructor(client: Client, known: KnownCheckpoints) {
    this.client = client
    this.known = known
  }

  /** Sends a job after those that were added before. */
  add(log: string, job: Promise<Job>): Promise<Stored> {
    job.catch(() => undefined)
    return new Promise((resolve, reject) => {
      const waiting = { job, resolve, reject }
      const lane = this.lanes.get(log)
      if (lane) {
        lane.waiting.push(waiting)
        return
      }
      const started = { waiting: [waiting], done: Promise.resolve() }
      this.lanes.set(log, started)
      started.done = this.run(log, started.waiting)
    })
  }

  /** Reports whether jobs of a thread are under way. */
  busy(log: string): boolean {
    return this.lanes.has(log)
  }

  /** Waits for the jobs of a thread that were added before. */
  async idle(log: string): Promise<void> {
    await this.lanes.get(log)?.done
  }

  private async run(log: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      await turn()
      const batch = await this.take(waiting)
      if (batch.length > 0) await this.send(batch)
    }
    this.lanes.delete(log)
  }

  /** Takes the first waiting jobs that fit into one commit under one condition. */
  private async take(waiting: Waiting[]): Promise<Loaded[]> {
    const batch: Loaded[] = []
    let bytes = 0
    let entries = 0
    for (let next = waiting[0]; next; next = waiting[0]) {
      let ready: Job
      try {
        ready = await next.job
      } catch (error) {
        waiting.shift()
        next.reject(error)
        continue
      }
      bytes += sizeOf(ready.entries) + sizeOf(ready.blobs)
      entries += ready.entries.length + ready.blobs.length + 1
      if (batch.length > 0 && (bytes > commitBytesMax || entries > commitEntriesMax || !this.joins(batch, ready))) return batch
      waiting.shift()
      batch.push({ ...next, ready })
    }
    return batch
  }

  private joins(batch: readonly Loaded[], job: Job): boolean {
    if (job.needs !== undefined && batch.some(({ ready }) => ready.makes === job.needs)) return true
    const first = batch[0]!.ready
    return this.incarnation(first) !== undefined && this.incarnation(first) === this.incarnation(job)
  }

  /**
   * Returns the incarnation under which a job applies. A run sends the writes of a step's tasks before
   * the step's checkpoint if it does not wait for checkpoints: they apply under the incarnation that
   * the process saw last.
   */
  private incarnation(job: Job): number | undefined {
    if (job.needs === undefined) return undefined
    const incarnation = this.known.get(job.needs)?.incarnation
    return job.makes === undefined ? incarnation ?? this.known.incarnation(job.name.log) : incarnation
  }

  private async send(batch: Loaded[]): Promise<void> {
    try {
      const stored = await this.commit(batch.map(({ ready }) => ready))
      for (const each of batch) each.resolve(stored.splice(0, each.ready.entries.length))
    } catch (error) {
      if (batch.length > 1 && error instanceof RefusedError) {
        for (const each of batch) await this.send([each])
        return
      }
      for (const each of batch) {
        if (each.ready.makes !== undefined) this.known.remove(each.ready.makes)
        each.reject(error)
      }
    }
  }

  private async commit(jobs: readonly Job[]): Promise<Stored> {
    const { name, needs } = jobs[0]!
    let incarnation = this.incarnation(jobs[0]!)
    if (needs !== undefined && incarnation === undefined) {
      throw new Error(`thread ${JSON.stringify(name.threadId)} has no checkpoint that this write belongs to: it was not stored, or the thread was deleted`)
    }
    const unique = (some: readonly Job[]): Draft[] => [...new Map(some.map((job) => [job.register.id, job.register])).values()]
    const registers = unique(jobs.filter((job) => !job.registered))
    const blobs = chunks(jobs.flatMap((job) => job.blobs))
    const entries = jobs.flatMap((job) => job.entries)
    // Blobs beyond one commit go first: a checkpoint is never stored before the values that it names.
    while (blobs.length > 0 && (blobs.length > 1 || sizeOf(blobs[0]!) + sizeOf(entries) > commitBytesMax)) {
      incarnation = (await this.append(name, incarnation, unique(jobs), blobs.shift()!)).incarnation
    }
    const done = await this.append(name, incarnation, [...registers, ...entries], blobs[0] ?? [])
    for (const { makes } of jobs) {
      this.known.saw(name.log, done.incarnation)
      const known = makes === undefined ? undefined : this.known.get(makes)
      if (known) known.incarnation = done.incarnation
    }
    return done.stored.slice(registers.length)
  }

  private async append(name: ThreadName, incarnation: number | undefined, entries: Draft[], blobs: Draft[]): Promise<{ incarnation: number; stored: Stored }> {
    const ops: Op[] = [{ op: 'append_thread', thread: name.log, entries, on_exists: 'skip', ...(incarnation === undefined ? {} : { if_incarnation: incarnation }) }]
    if (blobs.length > 0) ops.push({ op: 'append_thread', thread: name.blobs, entries: blobs })
    const { results } = await this.client.commit(ops)
    const result = results[0] as { incarnation: number; entries?: Stored }
    return { incarnation: result.incarnation, stored: result.entries ?? [] }
  }
}

/** Splits drafts into parts that fit into a commit. */
function chunks(drafts: readonly Draft[]): Draft[][] {
  const all: Draft[][] = []
  let size = Infinity
  for (const draft of drafts) {
    size += sizeOf([draft])
    if (size > commitBytesMax || all.at(-1)!.length >= commitEntriesMax) {
      all.push([])
      size = sizeOf([draft])
    }
    all.at(-1)!.push(draft)
  }
  return all
}
