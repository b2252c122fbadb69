import type { components } from './schema.js'

/** What a node says about an error (RFC 9457). */
export type Problem = components['schemas']['Problem']

/** The codes of problems. */
export type Code = Problem['code']

/** The base of the errors of this package. */
export abstract class DormouseError extends Error {
  /** What is known about the effect of the call. */
  abstract readonly outcome: 'refused' | 'unknown'
}

/**
 * A call that was refused: it was not applied, except after two codes of pods. After `mutation_failed` the new topology
 * is stored, and after `reconcile_failed` some nodes may have started or stopped: the report of the problem says what
 * was done. `problem` has the members of its code, such as `rev` of a conflict.
 */
export class RefusedError extends DormouseError {
  readonly outcome = 'refused'
  readonly problem: Problem
  readonly code: Code
  readonly status: number

  constructor(problem: Problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.name = 'RefusedError'
    this.problem = problem
    this.code = problem.code
    this.status = problem.status
  }
}

/**
 * A write whose outcome is unknown: it may have been applied, and may still be. Send it again with
 * the same `idempotencyKey` to learn it.
 */
export class UnknownError extends DormouseError {
  readonly outcome = 'unknown'
  readonly idempotencyKey: string | undefined

  constructor(detail: string, idempotencyKey: string | undefined, cause?: unknown) {
    super(`unknown outcome: ${detail}`, { cause })
    this.name = 'UnknownError'
    this.idempotencyKey = idempotencyKey
  }
}

/** A lease or a claim that this process no longer holds. */
export class LostError extends Error {
  constructor(detail: string, cause?: unknown) {
    super(detail, { cause })
    this.name = 'LostError'
  }
}

/** The three outcomes of a call, as a value. */
export type Outcome<T> =
  | { outcome: 'done'; value: T }
  | { outcome: 'refused'; error: RefusedError }
  | { outcome: 'unknown'; error: UnknownError }

/** Returns the outcome of a call as a value. It throws only errors of the program. */
export async function settle<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { outcome: 'done', value: await call }
  } catch (error) {
    if (error instanceof RefusedError) return { outcome: 'refused', error }
    if (error instanceof UnknownError) return { outcome: 'unknown', error }
    throw error
  }
}

/** Returns a refusal that this package makes itself. */
export function refusal(code: Code, detail: string, status = 0): RefusedError {
  return new RefusedError({ type: `urn:dormouse:problem:${code}`, title: detail, status, detail, code })
}
