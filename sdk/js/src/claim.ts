import type { Client } from './client.js'
import { RefusedError, type LostError } from './errors.js'
import { Hold, limitsOf } from './hold.js'
import type { CallOptions } from './transport.js'
import type { Claim } from './types.js'

/** A claim that this process holds and renews. */
export class ClaimHold extends Hold {
  readonly claim: Claim
  private readonly client: Client
  private readonly holder: string

  constructor(client: Client, claim: Claim, holder: string, ttlMs: number, since: number) {
    const epoch = claim.epoch ?? 0
    const renew = (signal: AbortSignal): Promise<Claim> => client.claims.renew(claim.name, holder, epoch, ttlMs, { signal, ...limitsOf(ttlMs) })
    super({ claim: claim.name, epoch }, { ttlMs, call: 'POST /v1/claims/{name}/renew', renew, next: (attempt) => client.transport.next(attempt) }, since)
    this.client = client
    this.claim = claim
    this.holder = holder
  }

  /** Stops renewing, and frees the claim for others. A claim that another holder has, or whose ttl is over, needs no release. */
  async release(options: CallOptions = {}): Promise<void> {
    this.stop()
    if (this.signal.aborted) {
      const { cause } = this.signal.reason as LostError
      if (!(cause instanceof RefusedError) || cause.code === 'fenced') return
    }
    try {
      await this.client.claims.release(this.claim.name, this.holder, this.fence.epoch, options)
    } catch (error) {
      if (!(error instanceof RefusedError && error.code === 'fenced')) throw error // another holder has it already
    }
  }
}
