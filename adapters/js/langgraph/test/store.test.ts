// The store, also against the same calls of LangGraph's own InMemoryStore.
import { randomUUID } from 'node:crypto'
import { RefusedError } from '@dormouse/client'
import { Embeddings } from '@langchain/core/embeddings'
import { InMemoryStore, type Operation } from '@langchain/langgraph-checkpoint'
import { END, getStore, START, StateGraph, Annotation } from '@langchain/langgraph'
import { DormouseStore, itemTextsMax, type StoreOptions } from '../src/index.js'
import { textsAt } from '../src/items.js'
import { client, follower, prefix } from './kit.js'

const open = (options: StoreOptions = {}) => new DormouseStore(follower(), { prefix: prefix(), ...options })

/** Embeds a text as how often it has each of four words. */
class Words extends Embeddings {
  constructor() {
    super({})
  }
  async embedQuery(text: string): Promise<number[]> {
    return ['tea', 'green', 'cake', 'rain'].map((word) => text.toLowerCase().split(word).length - 1 + 0.01)
  }
  embedDocuments(texts: string[]): Promise<number[][]> {
    return Promise.all(texts.map((each) => this.embedQuery(each)))
  }
}

const bare = (items: readonly { namespace: string[]; key: string; value: unknown }[]) =>
  items.map(({ namespace, key, value }) => JSON.stringify([namespace, key, value])).sort()

describe('DormouseStore', () => {
  it('keeps, changes and deletes items', async () => {
    const store = open()
    await store.put(['users', '1'], 'food', { likes: 'tea' })
    const first = await store.get(['users', '1'], 'food')
    expect(first).toMatchObject({ namespace: ['users', '1'], key: 'food', value: { likes: 'tea' } })
    await store.put(['users', '1'], 'food', { likes: 'cake' })
    const second = await store.get(['users', '1'], 'food')
    expect(second?.value).toEqual({ likes: 'cake' })
    expect(second?.createdAt).toEqual(first?.createdAt)
    expect(second!.updatedAt.getTime()).toBeGreaterThanOrEqual(first!.updatedAt.getTime())
    await store.delete(['users', '1'], 'food')
    expect(await store.get(['users', '1'], 'food')).toBeNull()
    await store.delete(['users', '1'], 'food')
    await store.put(['a'], 'key:with::colons/é', { x: 1 })
    expect((await store.search(['a']))[0]).toMatchObject({ namespace: ['a'], key: 'key:with::colons/é' })
  })

  it('reads items that exceed one answer together in several', async () => {
    const store = open()
    const keys = Array.from({ length: 90 }, (_, at) => String(at).padStart(2, '0'))
    for (let at = 0; at < keys.length; at += 10) {
      await store.batch(keys.slice(at, at + 10).map((key) => ({ namespace: ['large'], key, value: { text: 'x'.repeat(400_000) } })))
    }
    expect((await store.search(['large'], { limit: 90 })).map(({ key }) => key)).toEqual(keys)
    const found = await store.batch(keys.map((key) => ({ namespace: ['large'], key })))
    expect(found.map((item) => item?.key)).toEqual(keys)
  })

  it('reads on after an empty page that names a next one', async () => {
    const shared = prefix()
    await open({ prefix: shared }).put(['a', 'b'], 'k', { n: 1 })
    const real = follower()
    const read = real.read.bind(real)
    real.read = (async (reads: Parameters<typeof read>[0], ...rest: never[]) => {
      const first = reads[0] as { read: string; prefix: string; after?: string }
      if (first.read === 'list_values' && first.after === undefined) return { index: 0, answers: [{ found: { items: [], next: first.prefix } }] }
      return await read(reads, ...rest)
    }) as typeof read
    const store = new DormouseStore(real, { prefix: shared })
    expect(await store.listNamespaces()).toEqual([['a', 'b']])
    expect((await store.search(['a'])).map(({ key }) => key)).toEqual(['k'])
  })

  it('answers as InMemoryStore does', async () => {
    const ours = open()
    const theirs = new InMemoryStore()
    const puts: Operation[] = []
    for (const a of ['x', 'xy', '1']) for (const b of ['p', 'q', '2']) for (let n = 0; n < 3; n++) puts.push({ namespace: [a, b], key: `k${n}`, value: { n, a, tags: [b] } })
    puts.push({ namespace: ['x'], key: 'top', value: { n: 9 } }, { namespace: ['x', 'p', 'deep', 'er'], key: 'low', value: { n: 1 } })
    await Promise.all([ours.batch(puts), theirs.batch(puts)])
    const filters = [undefined, { n: 1 }, { n: { $gt: 0 } }, { n: { $gte: 1, $lt: 9 } }, { a: { $ne: 'x' } }, { a: { $in: ['x', '1'] } }, { a: { $nin: ['x'] } }, { n: { $eq: 9 } }, { n: { other: 1 } }]
    for (const namespace of [[], ['x'], ['x', 'p'], ['none'], ['1', '2']]) {
      for (const filter of filters) {
        const options = { limit: 100, ...(filter ? { filter } : {}) }
        expect(bare(await ours.search(namespace, options))).toEqual(bare(await theirs.search(namespace, options)))
      }
    }
    const sorted = (all: string[][]) => all.map((each) => each.join(':')).sort()
    for (const options of [{}, { maxDepth: 1 }, { maxDepth: 2 }, { prefix: ['x'] }, { prefix: ['*', 'p'] }, { suffix: ['er'] }, { suffix: ['q'] }, { prefix: ['x'], suffix: ['*', 'er'] }]) {
      expect(sorted(await ours.listNamespaces(options))).toEqual(sorted(await theirs.listNamespaces(options)))
    }
    expect(await ours.listNamespaces({ limit: 2, offset: 1 })).toHaveLength(2)
    const pages = [...await ours.search([], { limit: 20 }), ...await ours.search([], { limit: 20, offset: 20 })]
    expect(bare(pages)).toEqual(bare(await ours.search([], { limit: 100 })))
  })

  it('lists many namespaces and items over pages', async () => {
    const store = open()
    await store.batch(Array.from({ length: 1300 }, (_, n): Operation => ({ namespace: ['many', String(n % 7)], key: `k${n}`, value: { n } })))
    expect(await store.search(['many'], { limit: 2000 })).toHaveLength(1300)
    expect(await store.search(['many'], { limit: 2000, filter: { n: { $lt: 700 } } })).toHaveLength(700)
    expect(await store.listNamespaces({ prefix: ['many'] })).toHaveLength(7)
  })

  it('finds by words without embeddings, as soon as an item is written, on each node', async () => {
    const shared = { prefix: prefix(), index: { fields: ['text', 'notes[*]'] } }
    const store = open(shared)
    await store.put(['m', 'ada'], 'one', { text: 'Ada likes green tea', notes: ['and rain'] })
    await store.put(['m', 'bob'], 'two', { text: 'Bob bakes cake', notes: [] })
    await store.put(['m', 'bob'], 'hidden', { text: 'green tea' }, false)
    const other = new DormouseStore(client(), shared)
    expect(bare(await other.search(['m'], { query: 'tea' }))).toHaveLength(1)
    const [found] = await other.search([], { query: 'rain' })
    expect(found).toMatchObject({ key: 'one' })
    expect(found?.score).toBeGreaterThan(0)
    expect(await other.search(['m', 'bob'], { query: 'tea' })).toEqual([])
    expect(await other.search(['m'], { query: 'tea', filter: { text: 'other' } })).toEqual([])
    // A changed item is found by its new texts only, a deleted one not at all.
    await store.put(['m', 'ada'], 'one', { text: 'Ada likes coffee', notes: [] })
    expect(await other.search(['m'], { query: 'rain' })).toEqual([])
    expect(await other.search(['m'], { query: 'coffee' })).toHaveLength(1)
    await store.delete(['m', 'ada'], 'one')
    expect(await other.search(['m'], { query: 'coffee' })).toEqual([])
  })

  it('finds items in namespaces that are long, or begin with white space', async () => {
    const store = open({ index: {} })
    const long = Array.from({ length: 4 }, () => randomUUID())
    await store.batch([
      { namespace: [...long, 'low'], key: 'low', value: { text: 'tea' } },
      ...[' x', 'x', '\u00a0x', '\ufeffx'].map((label) => ({ namespace: [label], key: JSON.stringify(label), value: { text: 'tea' } })),
    ])
    for (let end = 1; end <= 4; end++) expect((await store.search(long.slice(0, end), { query: 'tea' })).map(({ key }) => key)).toEqual(['low'])
    expect(await store.search([...long.slice(0, 3), 'other'], { query: 'tea' })).toEqual([])
    for (const label of [' x', 'x', '\u00a0x', '\ufeffx']) {
      expect((await store.search([label], { query: 'tea' })).map(({ key }) => key)).toEqual([JSON.stringify(label)])
    }
    // Also below one first label, whose items one agent has.
    await store.batch([' x', 'x'].map((label) => ({ namespace: [long[0]!, label], key: JSON.stringify(label), value: { text: 'cake' } })))
    for (const label of [' x', 'x']) expect((await store.search([long[0]!, label], { query: 'cake' })).map(({ key }) => key)).toEqual([JSON.stringify(label)])
  })

  it('searches by the first 8 KiB of a query, and takes a blank one for none', async () => {
    const store = open({ index: {} })
    await store.batch([['a', 'cake'], ['b', 'tea']].map(([key, text]) => ({ namespace: ['q'], key: key!, value: { text } })))
    const found = async (query: string) => (await store.search(['q'], { query })).map(({ key }) => key)
    expect(await found(`tea ${'x'.repeat(8995)} cake`)).toEqual(['b'])
    expect(await found(`tea ${'é'.repeat(4498)}`)).toEqual(['b']) // 8 KiB end within a character
    expect(await found(`${' '.repeat(9000)}tea`)).toEqual(['b'])
    for (const blank of ['', '  ', '\u0085\u00a0']) expect(await found(blank)).toEqual(['a', 'b'])
  })

  it('finds by meaning with embeddings, with the scores of InMemoryStore', async () => {
    const index = { dims: 4, embeddings: new Words(), fields: ['text', 'more'] }
    const ours = open({ index })
    const theirs = new InMemoryStore({ index })
    const puts: Operation[] = [
      { namespace: ['m', '1'], key: 'a', value: { text: 'green tea', more: 'rain' } },
      { namespace: ['m', '1'], key: 'b', value: { text: 'cake' } },
      { namespace: ['m', '2'], key: 'c', value: { text: 'tea tea cake' } },
    ]
    await Promise.all([ours.batch(puts), theirs.batch(puts)])
    for (const query of ['tea', 'rain', 'green cake']) {
      for (const namespace of [['m'], ['m', '1']]) {
        const [mine, other] = await Promise.all([ours.search(namespace, { query }), theirs.search(namespace, { query })])
        expect(mine.map((each) => each.key)).toEqual(other.map((each) => each.key))
        mine.forEach((each, at) => expect(each.score).toBeCloseTo(other[at]!.score!, 4))
      }
    }
    await expect(open({ index: { ...index, dims: 3 } }).put(['m'], 'a', { text: 'tea' })).rejects.toThrow('dimensions')
  })

  it('finds nothing by an embedding of zeros', async () => {
    const embed = (text: string): Float32Array => Float32Array.of(text.split('tea').length - 1, 0) // a model's own arrays are embeddings too
    const embeddings = { embedDocuments: async (texts: string[]) => texts.map(embed), embedQuery: async (text: string) => embed(text) } as unknown as Embeddings
    const store = open({ index: { embeddings, fields: ['text', 'more'] } })
    await store.batch(['tea', 'cake'].map((text) => ({ namespace: ['z'], key: text, value: { text, more: 'rain' } })))
    expect((await store.search(['z'], { query: 'tea' })).map(({ key, score }) => [key, score])).toEqual([['tea', 1]])
    expect(await store.search(['z'], { query: 'cake' })).toEqual([])
    expect((await store.get(['z'], 'cake'))?.value).toEqual({ text: 'cake', more: 'rain' })
    await store.put(['z'], 'tea', { text: 'cake' })
    expect(await store.search(['z'], { query: 'tea' })).toEqual([])
  })

  it('names the texts at a path as LangGraph does', async () => {
    const value = { title: 't', n: 1, on: true, none: null, list: [{ c: 'c0' }, { c: 'c1', d: 'd1' }], meta: { a: 'ma', b: { c: 'mbc' } } }
    const paths = ['title', 'n', 'on', 'none', 'missing.a', 'meta.b.c', 'list[*].c', 'list.*.c', 'list[-1].d', 'list[9].c', 'list[x].c', 'title[*]', 'meta[*]', 'meta.*.c',
      'meta.*', '*.a', '{title,meta.b.c, missing}', 'list[*].{c,d}', '{title,n}.a', 'list.1.c']
    const seen: string[][] = []
    const embeddings = { embedDocuments: async (texts: string[]) => { seen.push(texts); return texts.map(() => [1]) }, embedQuery: async () => [1] } as unknown as Embeddings
    for (const path of paths) {
      seen.length = 0
      await new InMemoryStore({ index: { dims: 1, embeddings, fields: [path] } }).put(['t'], 'k', value)
      const theirs = (seen[0] ?? []).map((text) => (text.startsWith('{') ? JSON.stringify(JSON.parse(text)) : text))
      expect([path, ...new Set(textsAt(value, path))].sort()).toEqual([path, ...theirs].sort())
    }
  })

  it('puts many items with long embeddings at a time', async () => {
    const vectors = new Map<string, number[]>()
    const embed = (text: string): number[] => vectors.get(text) ?? vectors.set(text, Array.from({ length: 1536 }, () => Math.random() - 0.5)).get(text)!
    const embeddings = { embedDocuments: async (texts: string[]) => texts.map(embed), embedQuery: async (text: string) => embed(text) } as unknown as Embeddings
    const store = open({ index: { embeddings, dims: 1536, fields: ['text'] } })
    await store.batch(Array.from({ length: 500 }, (_, n) => ({ namespace: ['long'], key: `k${n}`, value: { text: `text ${n}` } })))
    expect(await store.search(['long'], { limit: 1000 })).toHaveLength(500)
    for (const n of [0, 374, 499]) {
      const [first] = await store.search(['long'], { query: `text ${n}`, limit: 1 })
      expect(first!.key).toBe(`k${n}`)
      expect(first!.score).toBeCloseTo(1, 6)
    }
  })

  it('keeps one of concurrent changes of an item whole, with its index', async () => {
    const store = open({ index: { fields: ['words[*]'] } })
    await Promise.all(Array.from({ length: 8 }, (_, n) => store.put(['c'], 'item', { n, words: Array.from({ length: 8 - n }, (_, at) => `word${n}x${at}`) })))
    const n = (await store.get(['c'], 'item'))!.value.n as number
    for (let each = 0; each < 8; each++) {
      for (let at = 0; at < 8 - each; at++) expect(await store.search(['c'], { query: `word${each}x${at}` })).toHaveLength(each === n ? 1 : 0)
    }
  })

  it('keeps the index of an item whole that another deletes and puts again meanwhile', async () => {
    const shared = { prefix: prefix(), index: { fields: ['words[*]'] } }
    const other = open(shared)
    const ours = follower()
    const mine = new DormouseStore(ours, shared)
    await other.put(['again'], 'k', { words: ['first'] })
    const commit = ours.commit.bind(ours)
    const meanwhile = vi.spyOn(ours, 'commit').mockImplementationOnce(async (ops) => {
      await other.delete(['again'], 'k')
      await other.put(['again'], 'k', { words: ['one', 'two', 'otter'] })
      return commit(ops)
    })
    await mine.put(['again'], 'k', { words: ['mine'] })
    expect(meanwhile).toHaveBeenCalledTimes(2)
    expect(await mine.search(['again'], { query: 'otter' })).toEqual([])
    expect((await mine.search(['again'], { query: 'mine' })).map(({ value }) => value)).toEqual([{ words: ['mine'] }])
  })

  it('refuses more texts of an item than it indexes, and keys that are too long', async () => {
    const store = open({ index: { fields: ['words[*]'] } })
    const words = Array.from({ length: itemTextsMax }, (_, at) => `word${at}`)
    await store.put(['l'], 'fits', { words })
    expect(await store.search(['l'], { query: `word${itemTextsMax - 1}` })).toHaveLength(1)
    await expect(store.put(['l'], 'more', { words: [...words, 'one'] })).rejects.toThrow(`at most ${itemTextsMax}`)
    const room = 512 - `${(store as unknown as { base: string }).base}l::`.length
    await store.put(['l'], 'k'.repeat(room), { words: [] })
    await expect(store.put(['l'], 'k'.repeat(room + 1), { words: [] })).rejects.toThrow(RefusedError)
  })

  it('refuses a text that is too large to be indexed before it stores anything', async () => {
    const ours = follower()
    const store = new DormouseStore(ours, { prefix: prefix(), index: { fields: ['text'] } })
    const commit = vi.spyOn(ours, 'commit')
    const put = (key: string, text: string, index?: false) => ({ namespace: ['big'], key, value: { text }, ...(index === undefined ? {} : { index }) })
    await expect(store.batch([put('small', 'tea'), put('big', 'x'.repeat(300_000))])).rejects.toThrow(/item "big" has a text of 300000 bytes to index: .* at most 262144 are allowed/)
    const others = `item{}{"key":"${(store as unknown as { base: string }).base}big::edge"}big:`.length
    await expect(store.batch([put('edge', 'x'.repeat(262144 - others + 1))])).rejects.toThrow('at most 262144')
    expect(commit).not.toHaveBeenCalled()
    await store.batch([put('edge', `tea ${'x'.repeat(262144 - others - 4)}`), put('plain', 'x'.repeat(300_000), false)])
    expect((await store.search(['big'], { query: 'tea' })).map(({ key }) => key)).toEqual(['edge'])
    const embeddings = { embedDocuments: async (texts: string[]) => texts.map(() => Array(4096).fill(1)) } as unknown as Embeddings
    await expect(open({ index: { embeddings } }).put(['big'], 'k', { text: 'x'.repeat(250_000) })).rejects.toThrow('at most 262144')
  })

  it('serves the nodes of a graph', async () => {
    const store = open()
    const State = Annotation.Root({ seen: Annotation<string> })
    const graph = new StateGraph(State)
      .addNode('save', async () => { await getStore()!.put(['g'], 'k', { v: 'kept' }); return {} })
      .addNode('load', async () => ({ seen: (await getStore()!.get(['g'], 'k'))!.value.v as string }))
      .addEdge(START, 'save').addEdge('save', 'load').addEdge('load', END)
      .compile({ store })
    expect(await graph.invoke({ seen: '' })).toEqual({ seen: 'kept' })
  })
})
