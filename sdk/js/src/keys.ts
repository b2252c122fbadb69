import { idempotent } from './operations.js'
import type { Request } from './transport.js'

const createToken = 'POST /v1/tokens'

/**
 * Reports whether a call has an Idempotency-Key, and so may be sent again. To create a token without a hash has none, unless the caller
 * gives one: the node makes the secret and does not keep it, so another attempt would make another token.
 */
export function takesKey(call: string, { body, idempotencyKey }: Request): boolean {
  if (call === createToken && idempotencyKey === undefined) return Boolean((body as { hash?: unknown } | undefined)?.hash)
  return idempotent.has(call)
}
