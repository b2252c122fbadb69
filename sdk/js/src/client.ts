import { ClaimHold } from './claim.js'
import { refusal, RefusedError } from './errors.js'
import { Hold, limitsOf, ttlOf } from './hold.js'
import { Transport, type Answer, type CallOptions, type Fence, type Options, type Query, type Request } from './transport.js'
import type {
  Changed, Checkpoint, Claim, Committed, Draft, Entry, Found, Memory, Op, PageQuery, Precondition, Read, Review, Schemas, Session, Turned, Value,
} from './types.js'
import { follow } from './watch.js'
import { watchChanges, watchClaim, watchThread, type ChangesOptions, type Follow, type ThreadOptions } from './watches.js'

const merge = 'application/merge-patch+json'

/** A client of a cluster. It keeps no connection, and needs no close. */
export class Client {
  readonly transport: Transport
  private readonly defaults: CallOptions
  private readonly follow: Follow = (request, last) => follow(this.transport, this.merged(request), last)

  constructor(options: Options | Transport, defaults: CallOptions = {}) {
    this.transport = options instanceof Transport ? options : new Transport(options)
    this.defaults = defaults
  }

  /** Returns a client whose calls have these options unless they say otherwise. */
  with(defaults: CallOptions): Client {
    return new Client(this.transport, { ...this.defaults, ...defined(defaults) })
  }

  /** Returns a client whose writes apply only under the fence. */
  fenced(fence: Fence): Client {
    return this.with({ fence })
  }

  /** Makes any call of the API. The path is one of the OpenAPI document, with its parameters in braces. */
  async call<T = unknown>(request: Request): Promise<Answer<T>> {
    return this.transport.call<T>(this.merged(request))
  }

  /** Applies several ops, all or none. */
  async commit<const Ops extends readonly Op[]>(ops: Ops, options: CallOptions = {}): Promise<Committed<Ops>> {
    return this.body('POST', '/v1/commits', {}, { ops }, options)
  }

  /** Answers several reads at one index. */
  async read<const Reads extends readonly Read[]>(
    reads: Reads, options: CallOptions = {},
  ): Promise<{ index: number; answers: { [I in keyof Reads]: Found<Reads[I]['read']> } }> {
    return this.body('POST', '/v1/reads', {}, { reads }, options)
  }

  readonly values = {
    put: (key: string, value: Uint8Array | string, options: CallOptions & { contentType?: string; ttlMs?: number } & Precondition = {}) => {
      const { contentType, ttlMs, ifRevision, ifIncarnation, ...rest } = options
      const type = contentType ?? (typeof value === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream')
      return this.call<Schemas['ValueStamp']>({
        ...rest, method: 'PUT', path: '/v1/values/{key}', params: { key }, bytes: value, headers: { 'Content-Type': type },
        query: { ttl_ms: ttlMs, if_revision: ifRevision, if_incarnation: ifIncarnation },
      }).then((answer) => answer.body)
    },
    get: async (key: string, options: CallOptions = {}): Promise<Value> => {
      const { body, headers } = await this.transport.bytes(this.merged({ ...options, method: 'GET', path: '/v1/values/{key}', params: { key } }))
      return {
        bytes: body,
        contentType: headers.get('content-type') ?? '',
        revision: Number((headers.get('etag') ?? '').replace(/^W\/|"/g, '')),
        incarnation: Number(headers.get('dormouse-incarnation') ?? 0),
      }
    },
    delete: (key: string, options: CallOptions & Precondition = {}) => this.remove('/v1/values/{key}', { key }, options),
    list: (query: PageQuery = {}) => this.page<Schemas['ListValueRow']>('/v1/values', query),
  }

  readonly checkpoints = {
    put: (key: string, body: Schemas['CheckpointBody'], options: CallOptions & { ifRevision?: number } = {}) => {
      const { ifRevision, ...rest } = options
      const all = ifRevision === undefined ? body : { ...body, if_revision: ifRevision }
      return this.body<Schemas['CheckpointStamp']>('PUT', '/v1/checkpoints/{key}', { key }, all, rest)
    },
    patch: (key: string, patch: Record<string, unknown>, options: CallOptions & { ifRevision?: number } = {}) => {
      const { ifRevision, ...rest } = options
      return this.call<Schemas['CheckpointStamp']>({
        ...rest, method: 'PATCH', path: '/v1/checkpoints/{key}', params: { key }, body: patch, headers: { 'Content-Type': merge }, query: { if_revision: ifRevision },
      }).then((answer) => answer.body)
    },
    get: (key: string, options: CallOptions & { revision?: number } = {}) => {
      const { revision, ...rest } = options
      return this.get<Checkpoint>('/v1/checkpoints/{key}', { key }, { revision }, rest)
    },
    delete: (key: string, options: CallOptions & { ifRevision?: number } = {}) => this.remove('/v1/checkpoints/{key}', { key }, options),
    list: (query: PageQuery = {}) => this.page<Schemas['ListCheckpointRow']>('/v1/checkpoints', query),
    history: (key: string, options: CallOptions = {}) => this.get<Schemas['ListCheckpointRow']>('/v1/checkpoints/{key}/history', { key }, {}, options),
  }

  readonly threads = {
    create: (body: Schemas['NewThreadBody'] = {}, options: CallOptions = {}) => this.body<Schemas['ThreadStamp']>('POST', '/v1/threads', {}, body, options),
    append: (id: string, entries: readonly Draft[], options: CallOptions & { expectedRev?: number; expectedHead?: string; metadata?: Record<string, unknown> } = {}) => {
      const { expectedRev, expectedHead, metadata, ...rest } = options
      const body = { entries, expected_rev: expectedRev, expected_head: expectedHead, metadata }
      return this.body<Schemas['ThreadStamp']>('POST', '/v1/threads/{id}/entries', { id }, body, rest)
    },
    /** Appends one entry that has bytes, up to 4 MiB, as they are. */
    appendBytes: (id: string, bytes: Uint8Array, options: CallOptions & { contentType?: string; entry?: string; kind?: string; expectedRev?: number } = {}) => {
      const { contentType = 'application/octet-stream', entry, kind, expectedRev, ...rest } = options
      return this.call<Schemas['ThreadStamp']>({
        ...rest, method: 'POST', path: '/v1/threads/{id}/bytes', params: { id }, bytes, headers: { 'Content-Type': contentType },
        query: { entry, entry_kind: kind, expected_rev: expectedRev },
      }).then((answer) => answer.body)
    },
    get: (id: string, options: CallOptions = {}) => this.get<Schemas['Thread']>('/v1/threads/{id}', { id }, {}, options),
    entries: (
      id: string,
      query: CallOptions & { from?: number; to?: number; tail?: number; kind?: readonly string[]; atRev?: number; limit?: number; order?: 'asc' | 'desc' } = {},
    ) => {
      const { from, to, tail, kind, atRev, limit, order, ...rest } = query
      return this.get<Schemas['EntryPage']>('/v1/threads/{id}/entries', { id }, { from, to, tail, kind, at_rev: atRev, limit, order }, rest)
    },
    entry: (id: string, entry: string, options: CallOptions = {}) => this.get<Entry>('/v1/threads/{id}/entries/{entry}', { id, entry }, {}, options),
    entryBytes: async (id: string, entry: string, options: CallOptions = {}): Promise<Uint8Array> =>
      (await this.transport.bytes(this.merged({ ...options, method: 'GET', path: '/v1/threads/{id}/entries/{entry}/bytes', params: { id, entry } }))).body,
    fork: (id: string, body: Schemas['ForkBody'], options: CallOptions = {}) => this.body<Schemas['Thread']>('POST', '/v1/threads/{id}/fork', { id }, body, options),
    compact: (id: string, body: Schemas['CompactBody'], options: CallOptions = {}) =>
      this.body<Schemas['Compacted']>('POST', '/v1/threads/{id}/compact', { id }, body, options),
    delete: (id: string, options: CallOptions & { sealMs?: number } = {}) => this.remove('/v1/threads/{id}', { id }, options),
    list: (query: PageQuery = {}) => this.page<Schemas['ListThread']>('/v1/threads', query),
    /** Passes on the entries from a seq on, each once. It throws a refusal when the thread is deleted or compacted. */
    watch: (id: string, options: ThreadOptions = {}) =>
      watchThread(this.follow, id, options, async () => {
        const { from: _from, ...rest } = options
        return (await this.threads.get(id, { ...rest, stale: false })).incarnation
      }),
  }

  readonly agents = {
    hibernate: (key: string, body: Schemas['HibernateBody'], options: CallOptions = {}) =>
      this.body<Schemas['Hibernated']>('POST', '/v1/agents/{key}/hibernate', { key }, body, options),
    thaw: (key: string, options: CallOptions & { tail?: number } = {}) => {
      const { tail, ...rest } = options
      return this.get<Schemas['Thawed']>('/v1/agents/{key}/thaw', { key }, { tail }, rest)
    },
    erase: (key: string, options: CallOptions = {}) =>
      this.call<Schemas['Erasure']>({ ...options, method: 'DELETE', path: '/v1/agents/{key}', params: { key } }).then((answer) => answer.body),
  }

  readonly claims = {
    take: (name: string, holder: string, ttlMs?: number, options: CallOptions = {}) =>
      this.body<Claim>('POST', '/v1/claims/{name}', { name }, { holder, ttl_ms: ttlMs }, options),
    renew: (name: string, holder: string, epoch: number, ttlMs?: number, options: CallOptions = {}) =>
      this.body<Claim>('POST', '/v1/claims/{name}/renew', { name }, { holder, epoch, ttl_ms: ttlMs }, options),
    release: (name: string, holder: string, epoch: number, options: CallOptions = {}) =>
      this.body<Claim>('POST', '/v1/claims/{name}/release', { name }, { holder, epoch }, options),
    get: (name: string, options: CallOptions = {}) => this.get<Claim>('/v1/claims/{name}', { name }, {}, options),
    watch: (name: string, options: CallOptions = {}) => watchClaim(this.follow, name, options),
    /** Takes a claim and renews it until the hold is stopped or released. With wait, it waits for the holder before. */
    hold: (name: string, holder: string, options: CallOptions & { ttlMs?: number; wait?: boolean } = {}) => this.hold(name, holder, options),
  }

  readonly sessions = {
    create: (body: Schemas['SessionBody'], options: CallOptions = {}) => this.body<Schemas['SessionRow']>('POST', '/v1/sessions', {}, body, options),
    put: (id: string, body: Schemas['SessionBody'], options: CallOptions = {}) => this.body<Schemas['SessionRow']>('PUT', '/v1/sessions/{id}', { id }, body, options),
    get: (id: string, options: CallOptions = {}) => this.get<Session>('/v1/sessions/{id}', { id }, {}, options),
    list: (query: PageQuery & { status?: string; owner?: string; agent_id?: string; recoverable?: boolean } = {}) =>
      this.page<Schemas['ListSessionRow']>('/v1/sessions', query),
    claim: (id: string, body: Schemas['ClaimSessionBody'], options: CallOptions = {}) => this.turned(id, 'claim', body, options),
    resume: (id: string, body: Schemas['RunnerBody'], options: CallOptions = {}) => this.turned(id, 'claim_resume', body, options),
    recover: (id: string, body: Schemas['RunnerBody'], options: CallOptions = {}) => this.turned(id, 'recover', body, options),
    checkpoint: (id: string, body: Schemas['CheckpointSessionBody'], options: CallOptions = {}) => this.turned(id, 'checkpoint', body, options),
    commit: (id: string, body: Schemas['EndTurnBody'], options: CallOptions = {}) => this.turned(id, 'commit', body, options),
    renew: (id: string, body: Schemas['RenewSessionBody'], options: CallOptions = {}) => this.turned(id, 'renew', body, options),
    cancel: (id: string, body: Schemas['CancelSessionBody'] = {}, options: CallOptions = {}) => this.turned(id, 'cancel', body, options),
    delete: (id: string, options: CallOptions & { ifRevision?: number } = {}) => this.remove('/v1/sessions/{id}', { id }, options),
    /** Renews the lease of a turn, at once and until the hold is stopped. If the ttl is absent, it is that of the claim: give it for a turn that was renewed before. */
    keep: (id: string, turned: Turned, ttlMs?: number) => this.keep(id, turned, ttlMs),
  }

  readonly reviews = {
    get: (review: string, options: CallOptions = {}) => this.get<Review>('/v1/reviews/{review}', { review }, {}, options),
    list: (query: CallOptions & { status?: string; before?: number; assignee?: string; session?: string; after?: string; limit?: number } = {}) =>
      this.page<Schemas['ListReview']>('/v1/reviews', query),
    decide: (review: string, body: Schemas['DecideBody'], options: CallOptions = {}) =>
      this.body<Review>('POST', '/v1/reviews/{review}/decide', { review }, body, options),
  }

  readonly memory = {
    put: (agent: string, id: string, body: Schemas['MemoryBody'], options: CallOptions = {}) =>
      this.body<Schemas['MemoryStamp']>('PUT', '/v1/memory/{agent}/{id}', { agent, id }, body, options),
    write: (agent: string, body: Schemas['MemoryBody'], options: CallOptions = {}) =>
      this.body<Schemas['MemoryStamp']>('POST', '/v1/memory/{agent}', { agent }, body, options),
    get: (agent: string, id: string, options: CallOptions = {}) => this.get<Memory>('/v1/memory/{agent}/{id}', { agent, id }, {}, options),
    delete: (agent: string, id: string, options: CallOptions = {}) => this.remove('/v1/memory/{agent}/{id}', { agent, id }, options),
    recall: (body: Schemas['RecallBody'], options: CallOptions = {}) => this.body<Schemas['Recalled']>('POST', '/v1/memory/recall', {}, body, options),
  }

  /** Follows all changes of the scope, each once, across lost connections and killed nodes. */
  changes(options: ChangesOptions = {}): AsyncGenerator<Changed, void, undefined> {
    return watchChanges(this.follow, options)
  }

  /** Returns a request with the options of this client that it does not give itself. */
  private merged(request: Request): Request {
    return { ...this.defaults, ...defined(request) }
  }

  private async hold(name: string, holder: string, options: CallOptions & { ttlMs?: number; wait?: boolean }): Promise<ClaimHold> {
    const { idempotencyKey: keyOfAll, ...defaults } = this.defaults
    const keyless = new Client(this.transport, defaults)
    const { ttlMs = 30_000, wait = false, idempotencyKey = keyOfAll, ...rest } = options
    // A node gives the answer to the first attempt again under its key.
    for (let key = idempotencyKey; ; key = undefined) {
      const since = performance.now()
      try {
        const claim = await keyless.claims.take(name, holder, ttlMs, { ...rest, idempotencyKey: key })
        return new ClaimHold(keyless.with({ scope: rest.scope, fence: rest.fence }), claim, holder, ttlMs, since)
      } catch (error) {
        if (!wait || !(error instanceof RefusedError) || error.code !== 'already_claimed') throw error
      }
      for await (const now of watchClaim(this.follow, name, rest)) {
        if (!now.holder) break
      }
    }
  }

  private async keep(id: string, { lease }: Turned, given?: number): Promise<Hold> {
    if (!lease) throw refusal('invalid', `the turn of session ${id} has no lease: it is queued`)
    const ttlMs = given ?? ttlOf(lease)
    const body = { lease_id: lease.lease_id, owner_id: lease.owner_id, ttl_ms: ttlMs }
    const renew = (signal?: AbortSignal): Promise<Turned> => this.sessions.renew(id, body, { signal, ...limitsOf(ttlMs) })
    // How old the lease is, only the cluster knows: it is held since its renewal was sent.
    const since = performance.now()
    await renew()
    const next = (attempt: number): number => this.transport.next(attempt)
    return new Hold({ claim: `session:${id}`, epoch: lease.epoch }, { ttlMs, call: 'POST /v1/sessions/{id}/renew', renew, next }, since)
  }

  private turned(id: string, verb: string, body: unknown, options: CallOptions): Promise<Turned> {
    return this.body<Turned>('POST', `/v1/sessions/{id}/${verb}`, { id }, body, options)
  }

  private async body<T>(method: Request['method'], path: string, params: Record<string, string>, body: unknown, options: CallOptions): Promise<T> {
    return (await this.call<T>({ ...options, method, path, params, body })).body
  }

  private async get<T>(path: string, params: Record<string, string>, query: Query, options: CallOptions): Promise<T> {
    return (await this.call<T>({ ...options, method: 'GET', path, params, query })).body
  }

  private page<T>(path: string, query: CallOptions): Promise<T> {
    const { signal, timeoutMs, attemptMs, scope, stale, minIndex, idempotencyKey: _key, fence: _fence, ...rest } = query
    return this.get<T>(path, {}, rest as Query, { signal, timeoutMs, attemptMs, scope, stale, minIndex })
  }

  private async remove(path: string, params: Record<string, string>, options: CallOptions & Precondition & { sealMs?: number }): Promise<void> {
    const { ifRevision, ifIncarnation, sealMs, ...rest } = options
    await this.call({ ...rest, method: 'DELETE', path, params, query: { if_revision: ifRevision, if_incarnation: ifIncarnation, seal_ms: sealMs } })
  }
}

/** Returns an object without its members that are undefined. */
function defined<T extends object>(all: T): T {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as T
}
