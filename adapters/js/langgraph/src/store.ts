import { createHash } from 'node:crypto'
import { RefusedError, type Client, type Op, type Read } from '@dormouse/client'
import {
  BaseStore, validateNamespace, type GetOperation, type IndexConfig, type Item, type ListNamespacesOperation, type Operation, type OperationResults,
  type PutOperation, type SearchItem, type SearchOperation,
} from '@langchain/langgraph-checkpoint'
import { Change, checkText, commitOpsMax, commitsOf, Vector } from './changes.js'
import { below, clipped, hasPath, matches, splitKey, tagOf, textsAt, within, wordsOf } from './items.js'

/** The most reads of one call. */
const readsMax = 100

/** The most texts of one item that are indexed. */
export const itemTextsMax = 100

/** The most memories that one search with a query looks at. */
const recallMax = 1000

/** The most first labels of namespaces that a search with a query from the root looks at. */
const rootsMax = 100

/** The codes of a refused commit after which its items are read again. */
const changed: ReadonlySet<string> = new Set(['revision_mismatch', 'conflict', 'deleted', 'not_found'])

/** How often a put is tried again if others change the same items. */
const triesMax = 20

const last = '\u{10FFFF}'

/** What a store indexes for searches with a query. */
export interface StoreIndex {
  /** The paths of the texts, such as title, chapters[*].content or $, which is the whole value; $ if absent. */
  fields?: string[]
  /** If present, a query finds by meaning; if absent, by words in any script. */
  embeddings?: IndexConfig['embeddings']
  /** The dimensions of the embeddings. */
  dims?: number
}

/** How a store stores. */
export interface StoreOptions {
  /** The prefix of its keys in Dormouse; `langgraph/` if absent. */
  prefix?: string
  index?: StoreIndex
}

interface Stored {
  key: string
  bytes: string
  incarnation: number
  revision: number
  metadata?: { texts?: number }
  created_at: number
  updated_at: number
}

interface Row {
  key: string
  body?: string
}

/**
 * A long-term store of LangGraph on Dormouse. An item is a value. Its indexed texts are memories of
 * an agent, one agent for each first label, and change with the item in one commit.
 */
export class DormouseStore extends BaseStore {
  private readonly client: Client
  private readonly prefix: string
  private readonly index: StoreIndex | undefined

  constructor(client: Client, options: StoreOptions = {}) {
    super()
    this.client = client
    this.prefix = options.prefix ?? 'langgraph/'
    this.index = options.index
  }

  /** Answers the reads of a batch, then applies its puts in one commit. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const gets: [number, GetOperation][] = []
    const puts = new Map<string, PutOperation>()
    const results: unknown[] = operations.map(() => undefined)
    const searches: Promise<void>[] = []
    operations.forEach((operation, at) => {
      const answer = (found: Promise<unknown>) => searches.push(found.then((each) => { results[at] = each }))
      if ('namespacePrefix' in operation) answer(this.find(operation))
      else if ('value' in operation) puts.set(this.key(operation), operation)
      else if ('key' in operation) gets.push([at, operation])
      else answer(this.namespaces(operation))
    })
    const found = this.values(gets.map(([, each]) => this.key(each)))
    await Promise.all([found, ...searches])
    for (const [at, get] of gets) results[at] = (await found).get(this.key(get)) ?? null
    await this.putAll(puts)
    return results as OperationResults<Op>
  }

  private get base(): string {
    return `${this.prefix}s/`
  }

  private key(operation: { namespace: string[]; key: string }): string {
    validateNamespace(operation.namespace, { allowEmpty: true, allowReservedRoot: true })
    return this.base + within(operation.namespace) + operation.key
  }

  private agent(root: string | undefined): string {
    return `${this.prefix}s/${root ?? ''}`
  }

  private async read(reads: Read[]): Promise<unknown[]> {
    const calls = []
    for (let at = 0; at < reads.length; at += readsMax) calls.push(this.answers(reads.slice(at, at + readsMax)))
    return (await Promise.all(calls)).flat().map(({ found, error }) => {
      if (!error) return found
      if (error.code === 'not_found' || error.code === 'deleted') return undefined
      throw new RefusedError(error)
    })
  }

  /** Answers reads, in several calls if their answers are too large for one. */
  private async answers(reads: Read[]): ReturnType<typeof answersOf> {
    try {
      return await answersOf(this.client, reads)
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'too_large' || reads.length === 1) throw error
    }
    const half = reads.length >> 1
    return [...await this.answers(reads.slice(0, half)), ...await this.answers(reads.slice(half))]
  }

  private async stored(keys: readonly string[]): Promise<Map<string, Stored>> {
    const all = (await this.read(keys.map((key) => ({ read: 'get_value', key })))) as (Stored | undefined)[]
    return new Map(all.filter((each) => each !== undefined).map((each) => [each.key, each]))
  }

  private async values(keys: readonly string[]): Promise<Map<string, Item>> {
    const all = await this.stored([...new Set(keys)])
    return new Map([...all].map(([key, each]) => [key, {
      ...splitKey(key.slice(this.base.length)), value: valueOf(each.bytes), createdAt: new Date(each.created_at), updatedAt: new Date(each.updated_at),
    }]))
  }

  // Puts.

  private async putAll(puts: ReadonlyMap<string, PutOperation>): Promise<void> {
    const texts = new Map([...puts].map(([key, put]) => [key, this.texts(put)]))
    const vectors = await this.embed([...new Set([...texts.values()].flat())])
    const changes = [...puts].map(([key, put]) => new Change(key, put, texts.get(key)!.map((content) => ({ content, vector: vectors.get(content) }))))
    for (const each of changes) each.check()
    for (const part of commitsOf(changes)) await this.change(part)
  }

  private async change(changes: readonly Change[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      // Without an index only deletes depend on what is stored.
      const before = await this.stored(changes.filter(({ put }) => this.index || put.value === null).map(({ key }) => key))
      const ops = changes.flatMap((each) => this.opsOf(each, before.get(each.key)))
      if (ops.length > commitOpsMax) {
        const half = changes.length >> 1
        for (const part of [changes.slice(0, half), changes.slice(half)]) await this.change(part)
        return
      }
      try {
        if (ops.length > 0) await this.client.commit(ops)
        return
      } catch (error) {
        // Another process changed one of the items meanwhile.
        if (tries === triesMax || !(error instanceof RefusedError) || !changed.has(error.code)) throw error
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * tries))
      }
    }
  }

  private opsOf({ key, put, texts, tags, value }: Change, before: Stored | undefined): Op[] {
    const agent = this.agent(put.namespace[0])
    const ops: Op[] = []
    // The revisions of an item that was deleted and put again begin anew: only its incarnation tells them apart.
    const same = before ? { if_incarnation: before.incarnation, if_revision: before.revision } : { if_revision: 0 }
    if (value === undefined) {
      if (before) ops.push({ op: 'delete_value', key, ...same })
    } else {
      ops.push({ op: 'put_value', key, bytes: value, content_type: 'application/json', ...(this.index ? { metadata: { texts: texts.length }, ...same } : {}) })
      if (!this.index) return ops
    }
    texts.forEach(({ content, vector }, at) => {
      ops.push({
        op: 'write_memory', agent_id: agent, id: memoryId(key, at), kind: 'item', class: 'semantic', content, data: { key: key.slice(this.base.length) },
        tags, ...(vector ? { embedding: vector.values } : {}),
      })
    })
    for (let at = texts.length; at < (before?.metadata?.texts ?? 0); at++) ops.push({ op: 'delete_memory', agent_id: agent, id: memoryId(key, at) })
    return ops
  }

  /** Returns the texts of an item that a query may find. */
  private texts(put: PutOperation): string[] {
    if (!this.index || put.value === null || put.index === false) return []
    const texts = (put.index ?? this.index.fields ?? ['$']).flatMap((path) => textsAt(put.value, path)).filter((each) => each !== '')
    if (texts.length > itemTextsMax) throw new Error(`item ${JSON.stringify(put.key)} has ${texts.length} texts to index: at most ${itemTextsMax} are allowed`)
    for (const text of texts) checkText(put, text)
    return texts
  }

  /** Returns the embeddings of texts, without those that have no direction. */
  private async embed(texts: readonly string[]): Promise<Map<string, Vector>> {
    const { embeddings, dims } = this.index ?? {}
    if (!embeddings || texts.length === 0) return new Map()
    const vectors = await embeddings.embedDocuments([...texts])
    const wrong = vectors.find((each) => dims !== undefined && each.length !== dims)
    if (wrong) throw new Error(`an embedding has ${wrong.length} dimensions: index.dims is ${dims}`)
    return new Map(texts.map((text, at) => [text, new Vector(vectors[at]!)] as const).filter(([, vector]) => !vector.zero))
  }

  // Searches.

  private async find(search: SearchOperation): Promise<SearchItem[]> {
    validateNamespace(search.namespacePrefix, { allowEmpty: true, allowReservedRoot: true })
    const query = wordsOf(search.query)
    return query !== undefined && this.index ? this.recall(search, query) : this.scan(search)
  }

  /** Returns the items in the order of their keys. */
  private async scan({ namespacePrefix, filter, limit = 10, offset = 0 }: SearchOperation): Promise<SearchItem[]> {
    const keys: string[] = []
    for await (const row of this.rows(below(namespacePrefix), { body: filter !== undefined, limit: filter ? 100 : Math.min(1000, Math.max(1, offset + limit)) })) {
      if (keys.length >= offset + limit) break
      if (!filter || matches(valueOf(row.body), filter)) keys.push(row.key)
    }
    const wanted = keys.slice(offset, offset + limit)
    const items = await this.values(wanted)
    return wanted.flatMap((key) => {
      const item = items.get(key)
      return item && matches(item.value, filter) ? [item] : []
    })
  }

  /** Returns the items that match a query, the best first. */
  private async recall({ namespacePrefix, filter, limit = 10, offset = 0 }: SearchOperation, query: string): Promise<SearchItem[]> {
    const { embeddings } = this.index!
    const roots = namespacePrefix.length > 0 ? [namespacePrefix[0]] : await this.roots()
    const vector = embeddings && new Vector(await embeddings.embedQuery(query))
    if (vector?.zero) return []
    const how = vector ? { mode: 'vector' as const, embedding: vector.values } : { mode: 'text' as const, query: clipped(query) }
    const answers = (await this.read(roots.map((root) => ({
      read: 'recall', agent_id: this.agent(root), kinds: ['item'], limit: recallMax, ...how,
      ...(namespacePrefix.length > 0 ? { tags_all: [tagOf(namespacePrefix)] } : {}),
    })))) as ({ items: { score: number; data?: { key?: string } }[] } | undefined)[]
    const scores = new Map<string, number>()
    for (const { score, data } of answers.flatMap((each) => each?.items ?? [])) {
      const key = this.base + (data?.key ?? '')
      scores.set(key, Math.max(score, scores.get(key) ?? -Infinity))
    }
    const ranked = [...scores].sort(([, a], [, b]) => b - a)
    const found: SearchItem[] = []
    for (let at = 0; at < ranked.length && found.length < offset + limit; at += readsMax) {
      const part = ranked.slice(at, at + readsMax)
      const items = await this.values(part.map(([key]) => key))
      for (const [key, score] of part) {
        const item = items.get(key)
        if (item && matches(item.value, filter)) found.push({ ...item, score })
      }
    }
    return found.slice(offset, offset + limit)
  }

  private async roots(): Promise<string[]> {
    const roots: string[] = []
    for (let after = this.base; ;) {
      const [row] = (await this.page(this.base, { after, limit: 1, body: false })).items
      if (!row) return roots
      const [root = ''] = splitKey(row.key.slice(this.base.length)).namespace
      roots.push(root)
      if (roots.length > rootsMax) throw new Error(`a search with a query from the root looks at ${rootsMax} first labels, and there are more: name a namespace`)
      after = `${this.base}${root}:${last}`
    }
  }

  private async namespaces({ matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const all = new Map<string, string[]>()
    const fixed = matchConditions.find(({ matchType, path }) => matchType === 'prefix' && !path.includes('*'))
    const prefix = this.base + below(fixed?.path ?? [])
    for (let after: string | undefined; ;) {
      const { items, next } = await this.page(prefix, { after, limit: 500, body: false })
      let namespace: string[] = []
      for (const row of items) {
        namespace = splitKey(row.key.slice(this.base.length)).namespace
        if (!matchConditions.every(({ matchType, path }) => hasPath(namespace, path, matchType))) continue
        const shown = maxDepth === undefined ? namespace : namespace.slice(0, maxDepth)
        all.set(shown.join(':'), shown)
      }
      if (next === null) break
      // The rest of the last namespace says nothing new. A page may be empty although it has a next.
      after = items.length === 0 ? next : this.base + within(namespace) + last
    }
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each).slice(offset, offset + limit)
  }

  private async *rows(under: string, query: { body: boolean; limit: number }): AsyncGenerator<Row, void, undefined> {
    for (let after: string | undefined; ;) {
      const { items, next } = await this.page(this.base + under, { ...query, after })
      yield* items
      if (next === null) return
      after = next
    }
  }

  private async page(prefix: string, query: { after: string | undefined; limit: number; body: boolean }): Promise<{ items: Row[]; next: string | null }> {
    const { after, ...rest } = query
    const [page] = await this.read([{ read: 'list_values', prefix, ...rest, ...(after === undefined ? {} : { after }) }])
    return page as { items: Row[]; next: string | null }
  }
}

const valueOf = (bytes: string | undefined): Record<string, unknown> => JSON.parse(Buffer.from(bytes ?? '', 'base64').toString())

const answersOf = async (client: Client, reads: Read[]) => (await client.read(reads)).answers

const memoryId = (key: string, at: number): string => `${createHash('sha256').update(key).digest('hex')}.${at}`
