import { RefusedError } from '../../../../sdk/js/src/errors.js'
import { problemOf } from '../../../../sdk/js/src/transport.js'
import type { Schemas } from '../../api/client.js'
import { current } from '../../api/nodes.js'
import { token } from '../../api/session.js'

const answerMs = 20_000

/**
 * Creates a token whose secret the node makes. The call is sent once, without an idempotency key: a node
 * that answered it again would have no secret to give, as the store keeps only a hash.
 */
export async function createToken(body: Schemas['TokenBody']): Promise<Schemas['CreatedToken']> {
  const response = await fetch(`${current.value.url}/v1/tokens`, {
    method: 'POST', body: JSON.stringify(body), credentials: 'omit', signal: AbortSignal.timeout(answerMs),
    headers: { 'Content-Type': 'application/json', ...(token.value ? { Authorization: `Bearer ${token.value}` } : {}) },
  }).catch(() => {
    throw new Error('The node did not answer, so the token may exist without anyone knowing its secret. Load the list again: if it has a new token, revoke that.')
  })
  if (!response.ok) throw new RefusedError(problemOf(response.status, await response.text()))
  return (await response.json()) as Schemas['CreatedToken']
}
