import type { BlobRef } from './frame.js'

/** What this process knows of a stored checkpoint. */
export interface Known {
  /** The incarnation of the thread that holds it; undefined until it is stored. */
  incarnation: number | undefined
  /** Its channels whose values are in the blobs' thread. */
  blobs: Readonly<Record<string, BlobRef>>
}

/** How many checkpoints a process remembers. What it has forgotten, it reads again. */
export const knownMax = 10_000

/** The checkpoints that this process stored or read last. */
export class KnownCheckpoints {
  private readonly all = new Map<string, Known>()
  private readonly incarnations = new Map<string, number>()
  private readonly early = new Set<string>()

  /** Returns the key of a checkpoint. */
  static key(log: string, hash: string, checkpointId: string): string {
    return JSON.stringify([log, hash, checkpointId])
  }

  get(key: string): Known | undefined {
    const known = this.all.get(key)
    if (known) {
      this.all.delete(key)
      this.all.set(key, known)
    }
    return known
  }

  set(key: string, known: Known): void {
    this.all.delete(key)
    this.all.set(key, known)
    bound(this.all)
  }

  /** Returns the incarnation of a thread that this process saw last. */
  incarnation(log: string): number | undefined {
    return this.incarnations.get(log)
  }

  /** Remembers the incarnation of a thread. */
  saw(log: string, incarnation: number): void {
    this.incarnations.delete(log)
    this.incarnations.set(log, incarnation)
    bound(this.incarnations)
  }

  /** Remembers that a write to a checkpoint was made before the checkpoint. */
  addEarly(key: string): void {
    this.early.add(key)
    bound(this.early)
  }

  /** Reports whether a write to a checkpoint was made before it. */
  takeEarly(key: string): boolean {
    return this.early.delete(key)
  }

  /** Forgets a checkpoint that was not stored. */
  remove(key: string): void {
    if (this.all.get(key)?.incarnation === undefined) this.all.delete(key)
  }
}

/** Removes the oldest of a map or set that has too many. */
function bound(all: Map<string, unknown> | Set<string>): void {
  if (all.size <= knownMax) return
  for (const oldest of all.keys()) {
    all.delete(oldest)
    return
  }
}
