import { LostError, RefusedError } from './errors.js'
import { isInconclusive, transient } from './problems.js'
import type { Fence } from './transport.js'
import type { Schemas } from './types.js'

/** How a hold renews itself. */
export interface Renewal {
  ttlMs: number
  /** The method and the path of the call. */
  call: string
  /** Renews for the whole ttl. It throws a RefusedError if the hold is lost. */
  renew: (signal: AbortSignal) => Promise<unknown>
  /** Moves on to the next node after the refusal with this number, from 0, and returns the wait in ms before it is asked. */
  next: (attempt: number) => number
}

/** Returns the ttl in ms with which a lease was claimed, or 30,000 if it does not say. */
export function ttlOf({ acquired_at: since, expires_at: until }: Schemas['Lease']): number {
  return until > since ? until - since : 30_000
}

/** Returns the limits of a renewal in ms: it begins at a third of the ttl, and a silent node leaves time for others. */
export function limitsOf(ttlMs: number): { timeoutMs: number; attemptMs: number } {
  return { timeoutMs: ttlMs, attemptMs: ttlMs / 6 }
}

/**
 * A claim or a lease that this process holds. It renews itself at a third of its ttl. signal is aborted
 * with a LostError once it is lost, or can no longer be known to be held.
 *
 * The fence protects writes even if this process does not notice that it has lost the claim.
 */
export class Hold {
  readonly fence: Fence
  private readonly lost = new AbortController()
  private readonly stopped = new AbortController()
  private readonly renewal: Renewal
  private timer: ReturnType<typeof setTimeout> | undefined
  private expiry: ReturnType<typeof setTimeout> | undefined

  constructor(fence: Fence, renewal: Renewal, since: number) {
    this.fence = fence
    this.renewal = renewal
    this.extend(since)
    this.schedule()
  }

  /** Aborted once the claim is lost. */
  get signal(): AbortSignal {
    return this.lost.signal
  }

  /** Stops renewing. The claim lapses by itself, unless it is released. */
  stop(): void {
    clearTimeout(this.timer)
    clearTimeout(this.expiry)
    this.stopped.abort(new LostError(`${this.fence.claim} is no longer renewed`))
  }

  private schedule(ms = this.renewal.ttlMs / 3, attempt = 0): void {
    this.timer = setTimeout(() => void this.renew(attempt), ms)
  }

  /** The claim is held for the ttl since the renewal was sent. */
  private extend(since: number): void {
    clearTimeout(this.expiry)
    this.expiry = setTimeout(() => this.lose(new LostError(`${this.fence.claim} could not be renewed in time`)), since + this.renewal.ttlMs - performance.now())
  }

  private lose(reason: LostError): void {
    this.stop()
    this.lost.abort(reason)
  }

  private async renew(attempt: number): Promise<void> {
    const since = performance.now()
    try {
      await this.renewal.renew(this.stopped.signal)
      if (this.stopped.signal.aborted) return
      this.extend(since)
    } catch (error) {
      if (this.stopped.signal.aborted) return
      if (error instanceof RefusedError) {
        // Of a node or a proxy that refuses the caller: the hold may stand.
        if (isInconclusive(this.renewal.call, error)) return this.schedule(this.renewal.next(attempt), attempt + 1)
        if (error.status >= 400 && error.status < 500 && !transient.has(error.code)) {
          return this.lose(new LostError(`${this.fence.claim} is lost: ${error.message}`, error))
        }
      }
    }
    this.schedule()
  }
}
