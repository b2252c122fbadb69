import { RefusedError, UnknownError, refusal } from './errors.js'
import { encode, wellFormed, type LoneSurrogates } from './json.js'
import { takesKey } from './keys.js'
import { reads, withoutMinIndex, withoutStale } from './operations.js'
import { isInconclusive, problemOf, transient, undecided } from './problems.js'
import { NotSentError, byFetch, byNode, isUnsent, type Incoming, type Send } from './send.js'
import { Linked, backoff, sleep, unlessAborted } from './wait.js'

/** How a client reaches the cluster. */
export interface Options {
  /** Base URLs of nodes, such as http://127.0.0.1:7600. Any node serves any call. */
  endpoints: string | readonly string[]
  /** A bearer token, or a function that returns the current one. */
  token?: string | (() => string | Promise<string>)
  /** The keyspace of a tenant; `default` if absent. */
  scope?: string
  /** The time in ms within which a call tries again; 30,000 if absent. */
  timeoutMs?: number
  /** The time in ms of one attempt, counted from the last part of its answer that came, or of a long body that went (with fetch, only the former); 10,000 if absent. */
  attemptMs?: number
  /** What happens to lone surrogates in strings of requests: `replace` (by U+FFFD) if absent. */
  loneSurrogates?: LoneSurrogates
  /** The fetch to use. If it is absent, calls use the HTTP client of Node on Node, and the platform's fetch elsewhere. */
  fetch?: typeof fetch
}

/** A fence: a write applies only while the claim is at this epoch. */
export interface Fence {
  claim: string
  epoch: number
}

/** What any call takes. */
export interface CallOptions {
  signal?: AbortSignal
  timeoutMs?: number
  /** The time in ms of one attempt, if that of the client is longer. */
  attemptMs?: number
  scope?: string
  /** Of writes: send a call again under the key of the call before to learn its outcome. */
  idempotencyKey?: string
  fence?: Fence
  /** Of reads that take it: answer from the node's own state. */
  stale?: boolean
  /** Of reads that take it: wait until the node has applied this index. */
  minIndex?: number
}

/** A query parameter. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>

/** One call. */
export interface Request extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path of the OpenAPI document, with its parameters in braces. */
  path: string
  params?: Record<string, string>
  query?: Query
  headers?: Record<string, string>
  /** JSON, or bytes with a content type in headers. */
  body?: unknown
  bytes?: Uint8Array | string
}

/** The answer to a call. */
export interface Answer<T = unknown> {
  status: number
  headers: Headers
  /** Log index of the answer. */
  index: number
  body: T
}

/** The members of a Request. */
const known: { [Name in keyof Required<Request>]: 1 } = {
  method: 1, path: 1, params: 1, query: 1, headers: 1, body: 1, bytes: 1, signal: 1, timeoutMs: 1, attemptMs: 1, scope: 1, idempotencyKey: 1, fence: 1, stale: 1, minIndex: 1,
}

/** Refuses a request with another option: a misspelt fence must not make a write without one. */
function refuseUnknown(request: Request): void {
  const other = Object.keys(request).find((name) => !Object.hasOwn(known, name))
  if (other !== undefined) throw refusal('invalid', `${request.method} ${request.path} has no option ${JSON.stringify(other)}`)
}

/** One client of Node for the process, so that all share its connections. */
let ofNode: Send | undefined

/** The characters that no header may have. */
const beyondHeaders = /[^\t\x20-\x7e\x80-\xff]/

/** Returns a base URL without a slash at its end. */
function endpointOf(url: string): string {
  if (!/^\s*https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) throw refusal('invalid', `the endpoint ${JSON.stringify(url)} is not a base URL: give one such as http://127.0.0.1:7600`)
  return url.trim().replace(/\/+$/, '')
}

/** Returns text as a header carries it: its UTF-8, a byte a character. */
const header = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text))

const hex = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')

/** Sends calls to the nodes: fails over, and retries what is safe to retry. */
export class Transport {
  readonly endpoints: readonly string[]
  readonly #options: Options // hard private: a client that is logged does not show its token
  private at: number
  private cluster = ''
  private readonly sender: Send
  private readonly keys = hex()
  private sent = 0

  constructor(options: Options) {
    const endpoints = typeof options.endpoints === 'string' ? [options.endpoints] : options.endpoints
    if (endpoints.length === 0) throw refusal('invalid', 'there are no endpoints: give the base URL of at least one node')
    this.endpoints = endpoints.map(endpointOf)
    this.#options = options
    this.sender = options.fetch ? byFetch(options.fetch) : (ofNode ??= byNode() ?? byFetch((...request) => fetch(...request)))
    this.at = Math.floor(Math.random() * this.endpoints.length)
  }

  /** Makes a call and decodes its answer. If its JSON is broken, a read is refused with code `internal`, and a write is sent again. */
  async call<T>(request: Request): Promise<Answer<T>> {
    const { response, body } = await this.send(request)
    return answer(response, (body ?? decodedRead(response)) as T)
  }

  /** Makes a call whose answer is bytes. */
  async bytes(request: Request): Promise<Answer<Uint8Array>> {
    const { response } = await this.send(request)
    return answer(response, response.bytes())
  }

  /** Moves on to the next endpoint, unless another call has left this one before. */
  leave(endpoint: string): void {
    if (this.endpoints[this.at] === endpoint) this.at = (this.at + 1) % this.endpoints.length
  }

  /** Returns the wait in ms after the failed attempt with this number, from 0: none while there are nodes to try, but at least as long as a refusal says. */
  pause(attempt: number, refused?: RefusedError): number {
    return Math.max(refused?.problem.retry_after_ms ?? 0, attempt + 1 < this.endpoints.length ? 0 : backoff(attempt))
  }

  /** Moves on to the next endpoint, and returns what pause returns. */
  next(attempt: number): number {
    this.leave(this.endpoint)
    return this.pause(attempt)
  }

  get endpoint(): string {
    return this.endpoints[this.at]!
  }

  private async send(request: Request): Promise<Received> {
    refuseUnknown(request)
    const name = `${request.method} ${request.path}`
    const write = !reads.has(name)
    const keyed = takesKey(name, request)
    const repeatable = !write || keyed
    const key = keyed ? (request.idempotencyKey ?? `${this.keys}${this.sent++}`) : undefined
    const body = this.encoded(request)
    const deadline = performance.now() + (request.timeoutMs ?? this.#options.timeoutMs ?? 30_000)
    let ambiguous: unknown
    for (let attempt = 0; ; attempt++) {
      throwIfAborted(request.signal, write ? ambiguous : undefined, key)
      const endpoint = this.endpoint
      const failure = await this.attempt(request, endpoint, key, body, deadline)
      if ('response' in failure) return failure
      const { refused, lost } = failure
      if (refused) {
        if (refused.code === 'unknown') ambiguous ??= refused
        else if (write && undecided.has(refused.code)) throw new UnknownError(`the node says ${refused.message}`, key, ambiguous ?? refused)
        else if (ambiguous !== undefined && write && isInconclusive(name, refused)) {
          throw new UnknownError(`an earlier attempt may have been applied, a later one was refused: ${refused.message}`, key, ambiguous)
        } else if (!transient.has(refused.code)) throw refused
      } else if (write && !isUnsent(lost)) ambiguous ??= lost
      throwIfAborted(request.signal, write ? ambiguous : undefined, key)
      this.leave(endpoint)
      const pause = this.pause(attempt, refused)
      const more = performance.now() + pause < deadline && (repeatable || ambiguous === undefined)
      if (!more) throw ended(write, ambiguous, refused, lost, key)
      if (pause > 0) await sleep(pause, request.signal).catch(() => undefined) // aborted: the next round throws
    }
  }

  private wellFormed(text: string): string {
    return wellFormed(text, this.#options.loneSurrogates ?? 'replace')
  }

  private encoded(request: Request): string | Uint8Array | undefined {
    if (request.bytes !== undefined) return typeof request.bytes === 'string' ? this.wellFormed(request.bytes) : request.bytes
    return request.body === undefined ? undefined : encode(request.body, this.#options.loneSurrogates ?? 'replace')
  }

  private async attempt(request: Request, endpoint: string, key: string | undefined, body: string | Uint8Array | undefined, deadline: number): Promise<Received | Failure> {
    const within = (): number => Math.max(1, Math.min(request.attemptMs ?? Infinity, this.#options.attemptMs ?? 10_000, deadline - performance.now()))
    const linked = new Linked(request.signal)
    // The node answers at the timeout it was given; the client gives up a little later. On a slow connection another attempt would take as long.
    const moved = (): void => linked.cancelIn(within() + 1000, () => new DOMException('no answer in time', 'TimeoutError'))
    moved()
    try {
      const headers = await this.headers(request, body !== undefined, key, linked.signal)
      headers['dormouse-timeout-ms'] = String(Math.ceil(within()))
      const response = await this.sender({ url: endpoint + this.url(request), method: request.method, headers, body, signal: linked.signal, moved })
      this.cluster ||= response.header('dormouse-cluster') ?? ''
      if (response.status >= 200 && response.status < 300) {
        const write = !reads.has(`${request.method} ${request.path}`)
        return { response, body: write ? decodedWrite(request, response) : undefined }
      }
      return { refused: new RefusedError(problemOf(response.status, response.text())) }
    } catch (lost) {
      return lost instanceof RefusedError ? { refused: lost } : { lost }
    } finally {
      linked.release()
    }
  }

  /** Opens a stream of events at the current endpoint. */
  async open(request: Request, signal: AbortSignal): Promise<Response> {
    refuseUnknown(request)
    const headers = await this.headers(request, false, undefined, signal)
    headers.accept = 'text/event-stream'
    const response = await (this.#options.fetch ?? fetch)(this.endpoint + this.url(request), { headers, signal, cache: 'no-store', redirect: 'manual' })
    if (!response.ok) throw new RefusedError(problemOf(response.status, await response.text()))
    return response
  }

  /** Returns the headers of a request, their names in lower case. */
  private async headers(request: Request, hasBody: boolean, key: string | undefined, signal: AbortSignal): Promise<Record<string, string>> {
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(request.headers ?? {})) headers[name.toLowerCase()] = value
    if (hasBody) headers['content-type'] ??= request.bytes === undefined ? 'application/json' : 'application/octet-stream'
    const scope = request.scope ?? this.#options.scope
    if (scope !== undefined) headers['dormouse-scope'] = header(this.wellFormed(scope))
    if (this.cluster) headers['dormouse-cluster'] = this.cluster
    if (key !== undefined) headers['idempotency-key'] = header(this.wellFormed(key))
    if (request.fence && !reads.has(`${request.method} ${request.path}`)) {
      const { claim, epoch } = request.fence
      const quoted = /^[ -~]*$/.test(claim) ? JSON.stringify(claim) : `%"${encodeURIComponent(this.wellFormed(claim))}"`
      headers['dormouse-fence'] = `claim=${quoted};epoch=${epoch}`
    }
    const { token } = this.#options
    // Files of tokens end with a line break.
    if (token !== undefined) headers.authorization = `Bearer ${(await bearer(token, signal)).trimEnd()}`
    for (const name in headers) {
      if (beyondHeaders.test(headers[name]!)) throw refusal('invalid', `the header ${name} has a line break or another character that headers cannot have`)
    }
    return headers
  }

  private url(request: Request): string {
    const path = request.path.replace(/\{(\w+)\}/g, (_all, name: string) => {
      const id = request.params?.[name]
      if (id === undefined || id === '') throw refusal('invalid', `${name} is missing`)
      // A URL with such a part is another URL, even if its dots are percent-encoded.
      if (id === '.' || id === '..') throw refusal('invalid', `${name} is "${id}": choose another id`)
      return encodeURIComponent(this.wellFormed(String(id)))
    })
    const query = new URLSearchParams()
    const all: Query = { ...request.query }
    const name = `${request.method} ${request.path}`
    if (reads.has(name)) {
      if (!withoutStale.has(name)) all.stale = request.stale || undefined
      if (!withoutMinIndex.has(name)) all.min_index = request.minIndex
    }
    for (const [name, value] of Object.entries(all)) {
      if (value === undefined) continue
      for (const each of Array.isArray(value) ? value : [value]) query.append(name, this.wellFormed(String(each)))
    }
    const text = query.toString()
    return text ? `${path}?${text}` : path
  }
}

/** Returns the current token. If the caller's function fails, nothing was sent: that is a refusal. It is waited for until the signal is aborted. */
async function bearer(token: NonNullable<Options['token']>, signal: AbortSignal): Promise<string> {
  if (typeof token === 'string') return token
  try {
    return await unlessAborted(Promise.resolve(token()), signal)
  } catch (cause) {
    if (signal.aborted) throw new NotSentError(cause)
    const error = refusal('unauthenticated', `the function of the token failed: ${String(cause)}`)
    error.cause = cause
    throw error
  }
}

/** A response that tells of success. */
interface Received {
  response: Incoming
  /** The decoded JSON of a write's answer. */
  body: unknown
}

interface Failure {
  refused?: RefusedError
  lost?: unknown
}

function answer<T>(response: Incoming, body: T): Answer<T> {
  let headers: Headers | undefined
  return { status: response.status, get headers() { return (headers ??= response.headers()) }, index: Number(response.header('dormouse-index') ?? 0), body }
}

/** Returns the decoded JSON of an answer, undefined if it has none. */
function decoded(response: Incoming): unknown {
  return (response.header('content-type') ?? '').startsWith('application/json') ? JSON.parse(response.text()) : undefined
}

/** Returns what decoded returns, for a write. It throws if the answer is not of a node, such as the page of a proxy: nothing is known of the write then. */
function decodedWrite({ method }: Request, response: Incoming): unknown {
  const body = decoded(response)
  if (body === undefined && method !== 'GET' && response.bytes().length > 0) throw new TypeError(`the answer has status ${response.status} and is no JSON: it is not of a node`)
  return body
}

/** Returns what decoded returns, for a read: broken JSON is a refusal. */
function decodedRead(response: Incoming): unknown {
  try {
    return decoded(response)
  } catch (broken) {
    const error = refusal('internal', 'the answer of the node is not valid JSON')
    error.cause = broken
    throw error
  }
}

/** Throws if the signal is aborted: its reason, or an UnknownError if an earlier attempt may have been applied. */
function throwIfAborted(signal: AbortSignal | undefined, ambiguous: unknown, key: string | undefined): void {
  if (!signal?.aborted) return
  if (ambiguous === undefined) throw signal.reason
  throw new UnknownError('the call was aborted', key, signal.reason)
}

function ended(write: boolean, ambiguous: unknown, refused: RefusedError | undefined, lost: unknown, key: string | undefined): Error {
  if (write && ambiguous !== undefined) return new UnknownError('the time for the call is over', key, ambiguous)
  if (refused && refused.code !== 'unknown') return refused
  const error = refusal('unavailable', 'no node answered in time')
  error.cause = refused ?? lost
  return error
}
