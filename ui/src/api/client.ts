import { Transport, type Query, type Request } from '../../../sdk/js/src/transport.js'
import { RefusedError } from '../../../sdk/js/src/errors.js'
import { follow } from '../../../sdk/js/src/watch.js'
import type { components, paths } from '../../../sdk/js/src/schema.js'
import { scope } from '../app/address.js'
import { parse } from './exact.js'
import { anyNode, fetchAnyNode } from './nodes.js'
import { expired, token } from './session.js'

export type Schemas = components['schemas']

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** The paths of the API that have the method. */
type Paths<M extends Method> = { [P in keyof paths]: paths[P][M] extends undefined | never ? never : P }[keyof paths]
type Parameters<P extends keyof paths, M extends Method> = paths[P][M] extends { parameters: infer All } ? All : never
type PathOf<P extends keyof paths, M extends Method> = Parameters<P, M> extends { path: infer V } ? V : undefined
type QueryOf<P extends keyof paths, M extends Method> = Parameters<P, M> extends { query?: infer V } ? V : undefined
type Json<T> = T extends { content: { 'application/json': infer V } } ? V : never
type BodyOf<P extends keyof paths, M extends Method> = paths[P][M] extends { requestBody?: infer V } ? Json<NonNullable<V>> : undefined
type Found<P extends keyof paths, M extends Method> = paths[P][M] extends { responses: infer R }
  ? (200 extends keyof R ? Json<R[200]> : never) | (201 extends keyof R ? Json<R[201]> : never)
  : never

/** What a call of a path takes. */
export interface Take<P extends keyof paths, M extends Method> {
  params?: PathOf<P, M>
  query?: QueryOf<P, M>
  body?: BodyOf<P, M>
  signal?: AbortSignal
  /** Refuse to write unless the revision is this one. */
  ifRevision?: number
  scope?: string
  timeoutMs?: number
  /** Decode whole numbers that no double holds as objects of JSON.rawJSON, so that the answer can be written again. */
  exact?: boolean
}

/** Returns the transport of all calls, with the token of the person. */
export const transport = (() => {
  let shared: Transport | undefined
  let with_: string | undefined
  return (): Transport => {
    // A Transport always sends a token if it has one: one without is for nodes that ask for none.
    if (!shared || with_ !== token.value) {
      with_ = token.value
      shared = new Transport({ endpoints: anyNode, fetch: fetchAnyNode, attemptMs: 8_000, timeoutMs: 20_000, ...(with_ ? { token: with_ } : {}) })
    }
    return shared
  }
})()

async function call<T>(method: Method, path: string, take: Take<never, Method>): Promise<T> {
  try {
    const request: Request = {
      method: method.toUpperCase() as 'GET', path, scope: take.scope ?? scope.value,
      params: take.params as Record<string, string> | undefined,
      query: take.query as Query | undefined,
      ...(take.body === undefined ? {} : { body: take.body as unknown }),
      ...(take.signal ? { signal: take.signal } : {}),
      ...(take.timeoutMs ? { timeoutMs: take.timeoutMs } : {}),
      ...(take.ifRevision === undefined ? {} : { headers: { 'If-Match': `"${take.ifRevision}"` } }),
    }
    if (!take.exact) return (await transport().call<T>(request)).body
    return parse(new TextDecoder().decode((await transport().bytes(request)).body)) as T
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'unauthenticated') expired(error.problem.detail ?? '')
    throw error
  }
}

type Caller<M extends Method> = <P extends Paths<M>>(path: P, take?: Take<P, M>) => Promise<Found<P, M>>
const caller = <M extends Method>(method: M): Caller<M> =>
  (path, take = {}) => call<never>(method, path as string, take as never)

/** Calls of the API, with types from the OpenAPI document. They try again and change nodes as needed. */
export const api = { get: caller('get'), post: caller('post'), put: caller('put'), patch: caller('patch'), delete: caller('delete') }

/** An event of a watch. */
export interface Event<T> {
  kind: string
  data: T
}

/** The paths of watches. */
export type Watches = '/v1/threads/{id}/watch' | '/v1/changes' | '/v1/claims/{name}/watch' | '/v1/managers/{manager}/watch' | '/v1/managers/{manager}/instances/{key}/watch'

/**
 * Yields the events of a watch. After a lost connection it continues after the last event, so that each
 * comes exactly once, also through another node.
 */
export async function* watch<T>(path: Watches, take: { params?: Record<string, string>; query?: Query; signal: AbortSignal }): AsyncGenerator<Event<T>> {
  for await (const event of follow(transport(), { method: 'GET', path, scope: scope.value, ...take })) {
    yield { kind: event.event, data: JSON.parse(event.data) as T }
  }
}

/** Returns what an error says to people. */
export function detailOf(error: unknown): string {
  if (error instanceof RefusedError) return error.problem.detail || error.problem.title
  return error instanceof Error ? error.message : String(error)
}

export const codeOf = (error: unknown): string => (error instanceof RefusedError ? error.code : '')
