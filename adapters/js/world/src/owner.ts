import { AsyncLocalStorage } from 'node:async_hooks'
import { RefusedError, type ClaimHold, type Client, type Fence } from '@dormouse/client'
import type { Keys } from './keys.js'
import { read } from './store.js'

/** How long a process keeps a run that has nothing to do, in ms: its next message comes soon in most cases. */
const lingerMs = 1000

/** The run that the current call runs, and the fence of its writes. */
const running = new AsyncLocalStorage<{ run: string; fence: Fence }>()

/** Runs a function whose writes to a run apply only under the fence. */
export function runFenced<T>(run: string, fence: Fence, call: () => Promise<T>): Promise<T> {
  return running.run({ run, fence }, call)
}

/** Returns the fence of writes to a run, if the current call runs it. */
export function fenceOf(run: string): { fence: Fence } | object {
  const current = running.getStore()
  return current?.run === run ? { fence: current.fence } : {}
}

interface Owned {
  hold: Promise<ClaimHold | undefined>
  /** The hold once it is there. */
  held?: ClaimHold
  users: number
  linger: ReturnType<typeof setTimeout> | undefined
}

/** The runs that this process owns. One process at a time owns a run. */
export class Owner {
  private readonly client: Client
  private readonly keys: Keys
  private readonly holder: string
  /** How long a run stays with a process that died, in ms. */
  readonly ttlMs: number
  private readonly runs = new Map<string, Owned>()
  private closed = false

  constructor(client: Client, keys: Keys, holder: string, ttlMs: number) {
    this.client = client
    this.keys = keys
    this.holder = holder
    this.ttlMs = ttlMs
  }

  /** Takes a run, or returns undefined if another process has it. Call release after. It throws after close. */
  async take(run: string): Promise<ClaimHold | undefined> {
    if (this.closed) throw new Error(`the world is closed: it does not take the run ${run}`)
    const owned = this.runs.get(run) ?? this.claim(run)
    clearTimeout(owned.linger)
    owned.users++
    let hold: ClaimHold | undefined
    try {
      hold = await owned.hold
      if (hold) owned.held = hold
    } finally {
      if (!hold) this.forget(run, owned)
    }
    return hold
  }

  /** Ends one use of a run, by the hold that it took. After the last one the run is free for others soon. */
  release(run: string, hold: ClaimHold): void {
    const owned = this.runs.get(run)
    // A run whose claim was lost may have been taken again meanwhile, for other users.
    if (owned?.held !== hold || --owned.users > 0) return
    owned.linger = setTimeout(() => {
      this.forget(run, owned)
      void owned.hold.then((hold) => hold?.release()).catch(() => undefined) // It lapses by itself.
    }, lingerMs)
  }

  /** Releases all runs, and takes no more. */
  async close(): Promise<void> {
    this.closed = true
    const all = [...this.runs.values()]
    this.runs.clear()
    await Promise.all(all.map(async (owned) => {
      clearTimeout(owned.linger)
      await owned.hold.then((hold) => hold?.release()).catch(() => undefined)
    }))
  }

  private claim(run: string): Owned {
    const owned: Owned = { hold: this.hold(run), users: 0, linger: undefined }
    this.runs.set(run, owned)
    owned.hold.then((hold) => hold?.signal.addEventListener('abort', () => this.forget(run, owned)), () => undefined)
    return owned
  }

  private forget(run: string, owned: Owned): void {
    clearTimeout(owned.linger)
    if (this.runs.get(run) === owned) this.runs.delete(run)
  }

  /** Takes the claim of a run. It reads it first: a refusal is an entry of the log, a read is none. */
  private async hold(run: string): Promise<ClaimHold | undefined> {
    const name = this.keys.owner(run)
    const [found] = await read(this.client, [{ read: 'get_claim', claim: name }])
    const { holder = this.holder } = (found ?? {}) as { holder?: string }
    if (holder !== this.holder) return undefined
    try {
      return await this.client.claims.hold(name, this.holder, { ttlMs: this.ttlMs })
    } catch (error) {
      if (error instanceof RefusedError && error.code === 'already_claimed') return undefined
      throw error
    }
  }
}
