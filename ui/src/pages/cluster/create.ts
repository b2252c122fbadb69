import { RefusedError } from '../../../../sdk/js/src/errors.js'
import { problemOf } from '../../../../sdk/js/src/problems.js'
import type { Schemas } from '../../api/client.js'
import { current } from '../../api/nodes.js'
import { token } from '../../api/session.js'

const answerMs = 20_000

/**
 * Creates a secret that a node makes. The call is sent once, without an idempotency key: a node that
 * answered it again would have no secret to give.
 */
async function createOnce<T>(path: string, body: unknown, lost: string): Promise<T> {
  const response = await fetch(current.value.url + path, {
    method: 'POST', body: JSON.stringify(body), credentials: 'omit', signal: AbortSignal.timeout(answerMs),
    headers: { 'Content-Type': 'application/json', ...(token.value ? { Authorization: `Bearer ${token.value}` } : {}) },
  }).catch(() => {
    throw new Error(`The node did not answer, ${lost}`)
  })
  if (!response.ok) throw new RefusedError(problemOf(response.status, await response.text()))
  return (await response.json()) as T
}

/** Creates a token, of which the store keeps only a hash. */
export const createToken = (body: Schemas['TokenBody']): Promise<Schemas['CreatedToken']> =>
  createOnce('/v1/tokens', body, 'so the token may exist without anyone knowing its secret. Load the list again: if it has a new token, revoke that.')

/** Creates a join token, of which no node keeps a record. */
export const createJoinToken = (ttlMs: number): Promise<Schemas['JoinToken']> =>
  createOnce('/v1/cluster/join-tokens', { ttl_ms: ttlMs }, 'so no token was given. Create another one.')
