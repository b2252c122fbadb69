import type { Problem, RefusedError } from './errors.js'
import { onInstances } from './operations.js'

/** Codes after which another attempt may succeed. The refused attempt was not applied. */
export const transient = new Set(['overloaded', 'unavailable', 'not_owner'])

/** Codes after which a write may have been applied, as after `unknown`. */
export const undecided = new Set(['internal', 'request_expired'])

/** Codes of nodes that are about this attempt only: an earlier one may have been applied. */
const inconclusive = new Set(['read_only', 'unauthenticated', 'forbidden', 'quota_exceeded', 'corrupt'])

/** The type of the problem of an answer that is not of a node. */
const foreign = 'about:blank'

/** Reports whether a refusal of a call says nothing of earlier attempts: by the call or its code, or because it is a proxy's or this client's. */
export function isInconclusive(call: string, { code, status, problem }: RefusedError): boolean {
  return !transient.has(code) && (onInstances.has(call) || inconclusive.has(code) || status === 0 || problem.type === foreign)
}

/** Returns the problem of an answer. An answer of a proxy may have none: with 5xx it does not say whether a node had the call. */
export function problemOf(status: number, text: string): Problem {
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.code === 'string') return problem
  } catch {
    // Not JSON.
  }
  const code = status === 429 ? 'overloaded' : status >= 500 ? 'unknown' : 'invalid'
  return { type: foreign, title: 'The answer is not a problem document', status, detail: `the answer has status ${status} and no code: it is not of a node`, code }
}
