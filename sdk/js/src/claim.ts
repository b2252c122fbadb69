import type { Client } from './client.js'
import { RefusedError } from './errors.js'
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
    super({ claim: claim.name, epoch }, { ttlMs, renew: (signal) => client.claims.renew(claim.name, holder, epoch, ttlMs, { signal, ...limitsOf(ttlMs) }) }, since)
    this.client = client
    this.claim = claim
    this.holder = holder
  }

  /** Stops renewing, and frees the claim for others. A claim that was lost needs no release. */
  async release(options: CallOptions = {}): Promise<void> {
    this.stop()
    if (this.signal.aborted) return
    try {
      await this.client.claims.release(this.claim.name, this.holder, this.fence.epoch, options)
    } catch (error) {
      if (!(error instanceof RefusedError && error.code === 'fenced')) throw error // another holder has it already
    }
  }
}
