// What the adapter promises beyond the interface.
import { randomUUID } from 'node:crypto'
import { RefusedError } from '@dormouse/client'
import { emptyCheckpoint, uuid6, type Checkpoint } from '@langchain/langgraph-checkpoint'
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph'
import { DormouseSaver, entryBytesMax, threadIdBytesMax } from '../src/index.js'
import { client, follower, killLeader, prefix } from './kit.js'

const metadata = { source: 'loop' as const, step: 0, parents: {} }
const checkpoint = (values: Record<string, unknown> = {}, version = 1): Checkpoint => ({
  ...emptyCheckpoint(), id: uuid6(3), channel_values: values, channel_versions: Object.fromEntries(Object.keys(values).map((each) => [each, version])),
})
const config = (thread_id: string = randomUUID()) => ({ configurable: { thread_id, checkpoint_ns: '' } })

/** Returns a saver, and the calls that it made since the last look. */
function counted(base = follower()): { saver: DormouseSaver; calls: () => string[] } {
  let calls: string[] = []
  const send = base.call.bind(base)
  base.call = (request) => {
    calls.push(`${request.method} ${request.path}`)
    return send(request)
  }
  return { saver: new DormouseSaver(base, { prefix: prefix() }), calls: () => calls.splice(0) }
}

describe('reads', () => {
  it('returns the latest checkpoint with its writes in one call', async () => {
    const { saver, calls } = counted()
    const place = config()
    const stored = await saver.put(place, checkpoint({ a: 1 }), metadata, { a: 1 })
    await saver.putWrites(stored, [['a', 2], ['b', 3]], 'task')
    calls()
    const tuple = await saver.getTuple(place)
    expect(tuple?.pendingWrites).toEqual([['task', 'a', 2], ['task', 'b', 3]])
    expect(calls()).toEqual(['POST /v1/reads'])
    expect(await saver.getTuple(stored)).toEqual(tuple)
    expect(calls()).toEqual(['POST /v1/reads'])
  })

  it('finds all of many writes', async () => {
    const { saver } = counted()
    const stored = await saver.put(config(), checkpoint(), metadata, {})
    await Promise.all(Array.from({ length: 40 }, (_, n) => saver.putWrites(stored, [['a', n]], `task-${String(n).padStart(2, '0')}`)))
    const tuple = await saver.getTuple({ configurable: { ...stored.configurable, checkpoint_id: undefined } })
    expect(tuple?.pendingWrites?.map(([, , value]) => value)).toEqual(Array.from({ length: 40 }, (_, n) => n))
  })

  it('finds writes of more bytes than one answer has', async () => {
    const { saver } = counted()
    const place = config()
    const stored = await saver.put(place, checkpoint(), metadata, {})
    const text = 'x'.repeat(3_000_000)
    for (let n = 0; n < 8; n++) await saver.putWrites(stored, [['a', `${n}${text}`]], `task-${n}`)
    const expected = Array.from({ length: 8 }, (_, n) => [`task-${n}`, String(n)])
    for (const asked of [place, stored]) {
      const tuple = await saver.getTuple(asked)
      expect(tuple?.pendingWrites?.map(([task, , value]) => [task, (value as string)[0]])).toEqual(expected)
    }
  })

  it('finds writes that were stored before their checkpoint, as with the durability async', async () => {
    const { saver } = counted()
    const place = config()
    const first = await saver.put(place, checkpoint(), metadata, {})
    const next = checkpoint({ a: 1 })
    const { configurable } = first
    for (let n = 0; n < 3; n++) await saver.putWrites({ configurable: { ...configurable, checkpoint_id: next.id } }, [['a', n]], `early-${n}`)
    const stored = await saver.put(first, next, metadata, { a: 1 })
    // So many that a read of the last entries has the checkpoint and none of the early writes.
    for (let n = 0; n < 11; n++) await saver.putWrites(stored, [['a', n]], `later-${String(n).padStart(2, '0')}`)
    const expected = [
      ...Array.from({ length: 3 }, (_, n) => [`early-${n}`, 'a', n]), ...Array.from({ length: 11 }, (_, n) => [`later-${String(n).padStart(2, '0')}`, 'a', n]),
    ]
    for (const reader of [saver, new DormouseSaver(client(), { prefix: (saver as unknown as { prefix: string }).prefix })]) {
      expect((await reader.getTuple(place))?.pendingWrites).toEqual(expected)
      expect((await reader.getTuple(stored))?.pendingWrites).toEqual(expected)
    }
  })

  it('keeps the first write of a task at an index, and the last of an error', async () => {
    const { saver } = counted()
    const stored = await saver.put(config(), checkpoint(), metadata, {})
    await saver.putWrites(stored, [['a', 'first'], ['__error__', 'one']], 'task')
    await saver.putWrites(stored, [['a', 'second'], ['__error__', 'two']], 'task')
    const tuple = await saver.getTuple(stored)
    expect(tuple?.pendingWrites).toEqual([['task', '__error__', 'two'], ['task', 'a', 'first']])
  })

  it('returns the last put of a checkpoint that was put twice', async () => {
    const { saver } = counted()
    const place = config()
    const first = checkpoint({ a: 1 })
    await saver.put(place, first, metadata, { a: 1 })
    const stored = await saver.put(place, { ...first, channel_values: { a: 2 } }, metadata, { a: 1 })
    expect((await saver.getTuple(place))?.checkpoint.channel_values).toEqual({ a: 2 })
    expect((await saver.getTuple(stored))?.checkpoint.channel_values).toEqual({ a: 2 })
    const all = []
    for await (const tuple of saver.list(place)) all.push(tuple.checkpoint.channel_values)
    expect(all).toEqual([{ a: 2 }])
  })
})

describe('writes', () => {
  it('sends the writes of a step and the next checkpoint in one commit', async () => {
    const { saver, calls } = counted()
    const first = await saver.put(config(), checkpoint(), metadata, {})
    calls()
    await Promise.all([
      saver.putWrites(first, [['a', 1]], 'one'), saver.putWrites(first, [['a', 2]], 'two'),
      saver.put(first, checkpoint({ a: 2 }), metadata, { a: 1 }),
    ])
    expect(calls()).toEqual(['POST /v1/commits'])
  })

  it('stores a large value once for all checkpoints that share it, and values beyond the limit of an entry', async () => {
    const { saver, calls } = counted()
    const large = { text: 'x'.repeat(11 << 20) }
    const first = await saver.put(config(), checkpoint({ large, small: 1 }), metadata, { large: 1, small: 1 })
    calls()
    let last = first
    for (let n = 2; n < 5; n++) {
      last = await saver.put(last, { ...checkpoint({ large, small: n }), channel_versions: { large: 1, small: n } }, metadata, { small: n })
      expect(calls()).toEqual(['POST /v1/commits'])
    }
    const tuple = await counted().saver.getTuple(last) ?? await saver.getTuple(last)
    expect(tuple?.checkpoint.channel_values).toEqual({ large, small: 4 })
    const log = (saver as unknown as { prefix: string }).prefix + 't/' + String(first.configurable?.thread_id)
    const { items } = await client().threads.entries(log)
    expect(Math.max(...items.map((each) => each.bytes?.length ?? 0))).toBeLessThan(10_000)
  })

  it('refuses what is too large, and says so', async () => {
    const { saver } = counted()
    const stored = await saver.put(config(), checkpoint(), metadata, {})
    await saver.putWrites(stored, [['a', 'x'.repeat(entryBytesMax - 100)]], 'fits')
    await expect(saver.putWrites(stored, [['a', 'x'.repeat(entryBytesMax + 1)]], 'task')).rejects.toThrow(`at most ${entryBytesMax}`)
    await saver.put(config('é'.repeat(threadIdBytesMax / 2)), checkpoint(), metadata, {})
    await expect(saver.put(config('é'.repeat(threadIdBytesMax / 2) + 'x'), checkpoint(), metadata, {})).rejects.toThrow(`at most ${threadIdBytesMax}`)
    await expect(saver.put(config('a\u0000'), checkpoint(), metadata, {})).rejects.toThrow('control character')
  })

  it('refuses the writes of a run whose thread was deleted, and does not create it again', async () => {
    const { saver } = counted()
    const place = config()
    const stored = await saver.put(place, checkpoint(), metadata, {})
    const other = new DormouseSaver(client(), { prefix: (saver as unknown as { prefix: string }).prefix })
    await other.deleteThread(place.configurable.thread_id)
    await expect(saver.putWrites(stored, [['a', 1]], 'late')).rejects.toThrow(RefusedError)
    await expect(saver.put(stored, checkpoint(), metadata, {})).rejects.toThrow(RefusedError)
    await expect(other.putWrites(stored, [['a', 1]], 'late')).rejects.toThrow('the thread was deleted')
    expect(await saver.getTuple(place)).toBeUndefined()
    // A new run may use the id; writes of the old run do not reach it.
    const again = await saver.put(place, checkpoint({ a: 'new' }), metadata, { a: 1 })
    await expect(saver.putWrites(stored, [['a', 1]], 'late')).rejects.toThrow(RefusedError)
    await saver.putWrites(again, [['a', 2]], 'task')
    expect((await saver.getTuple(place))?.pendingWrites).toEqual([['task', 'a', 2]])
    await other.deleteThread(place.configurable.thread_id)
    await other.deleteThread(place.configurable.thread_id)
  })

  it('copies a thread', async () => {
    const { saver } = counted()
    const place = config()
    const large = 'x'.repeat(100_000)
    const stored = await saver.put(place, checkpoint({ large, a: 1 }), metadata, { large: 1, a: 1 })
    await saver.putWrites(stored, [['a', 2]], 'task')
    const copy = config()
    await saver.copyThread(place.configurable.thread_id, copy.configurable.thread_id)
    await saver.putWrites(stored, [['a', 3]], 'later')
    const tuple = await saver.getTuple(copy)
    expect(tuple?.checkpoint.channel_values).toEqual({ large, a: 1 })
    expect(tuple?.pendingWrites).toEqual([['task', 'a', 2]])
    await saver.put(tuple!.config, checkpoint({ a: 5 }), metadata, { a: 2 })
    expect((await saver.getTuple(place))?.checkpoint.channel_values).toEqual({ large, a: 1 })
    await saver.deleteThread(place.configurable.thread_id)
    expect((await saver.getTuple(copy))?.checkpoint.channel_values).toEqual({ a: 5 })
  })
})

describe('a graph', () => {
  const State = Annotation.Root({ n: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }), log: Annotation<number[]>({ reducer: (a, b) => a.concat(b), default: () => [] }) })

  it.each(['sync', 'async'] as const)('runs each of 200 steps once while the leader is killed, durability %s', async (durability) => {
    const ran: number[] = []
    const graph = new StateGraph(State)
      .addNode('step', async ({ n }) => {
        ran.push(n)
        if (n === 60) await killLeader()
        return { n: n + 1, log: [n] }
      })
      .addEdge(START, 'step')
      .addConditionalEdges('step', ({ n }) => (n < 200 ? 'step' : END))
      .compile({ checkpointer: new DormouseSaver(client(), { prefix: prefix() }) })
    const place = { configurable: { thread_id: 'graph' }, recursionLimit: 300, durability }
    const result = await graph.invoke({ n: 0 }, place)
    const expected = Array.from({ length: 200 }, (_, n) => n)
    expect(ran).toEqual(expected)
    expect(result.log).toEqual(expected)
    expect((await graph.getState(place)).values).toEqual(result)
    let steps = 0
    for await (const _ of graph.getStateHistory(place)) steps++
    expect(steps).toBe(202)
  }, 120_000)

  it('makes one commit a step with the durability sync', async () => {
    const { saver, calls } = counted()
    const graph = new StateGraph(State).addNode('step', ({ n }) => ({ n: n + 1, log: [n] })).addEdge(START, 'step')
      .addConditionalEdges('step', ({ n }) => (n < 20 ? 'step' : END)).compile({ checkpointer: saver })
    await graph.invoke({ n: 0 }, { configurable: { thread_id: 'calls' }, durability: 'sync' })
    const all = calls()
    expect(all.filter((each) => each === 'POST /v1/reads')).toHaveLength(1)
    // One for the input, one before the first step, one for each step.
    expect(all.filter((each) => each === 'POST /v1/commits').length).toBeLessThanOrEqual(22)
  })

  it('resumes an interrupted subgraph in another process', async () => {
    const shared = prefix()
    const ran: string[] = []
    const build = () => {
      const inner = new StateGraph(State)
        .addNode('before', () => { ran.push('before'); return { log: [1] } })
        .addNode('ask', () => ({ log: [interrupt('how many?') as number] }))
        .addEdge(START, 'before').addEdge('before', 'ask').addEdge('ask', END).compile()
      return new StateGraph(State).addNode('inner', inner).addEdge(START, 'inner').addEdge('inner', END)
        .compile({ checkpointer: new DormouseSaver(client(), { prefix: shared }) })
    }
    const place = { configurable: { thread_id: 'nested' } }
    await build().invoke({ n: 0 }, place)
    const state = await build().getState(place, { subgraphs: true })
    expect(state.tasks[0]?.interrupts[0]?.value ?? JSON.stringify(state.tasks)).toContain('how many?')
    const result = await build().invoke(new Command({ resume: 42 }), place)
    expect(result.log).toEqual([1, 42])
    expect(ran).toEqual(['before'])
    const saver = new DormouseSaver(client(), { prefix: shared })
    const namespaces = new Set<string>()
    for await (const tuple of saver.list({ configurable: { thread_id: 'nested' } })) namespaces.add(tuple.config.configurable?.checkpoint_ns as string)
    expect(namespaces.size).toBe(2)
    await saver.deleteThread('nested')
    for await (const _ of saver.list({ configurable: { thread_id: 'nested' } })) throw new Error('a checkpoint is left')
  })

  it('goes on in another process after an error, without running finished tasks again', async () => {
    const shared = prefix()
    const ran: string[] = []
    let broken = true
    const build = () => new StateGraph(State)
      .addNode('good', () => { ran.push('good'); return { log: [1] } })
      .addNode('bad', () => { ran.push('bad'); if (broken) throw new Error('broken'); return { log: [2] } })
      .addEdge(START, 'good').addEdge(START, 'bad').addEdge('good', END).addEdge('bad', END)
      .compile({ checkpointer: new DormouseSaver(client(), { prefix: shared }) })
    const place = { configurable: { thread_id: 'two' } }
    await expect(build().invoke({ n: 0 }, place)).rejects.toThrow('broken')
    broken = false
    const result = await build().invoke(null, place)
    expect(ran.filter((each) => each === 'good')).toHaveLength(1)
    expect(result.log.sort()).toEqual([1, 2])
  })

  it('copies a checkpoint by updateState, also the first of a thread', async () => {
    const graph = new StateGraph(State).addNode('step', ({ n }) => ({ n: n + 1, log: [n] })).addEdge(START, 'step').addEdge('step', END)
      .compile({ checkpointer: new DormouseSaver(client(), { prefix: prefix() }) })
    const place = { configurable: { thread_id: 'copy' } }
    await graph.invoke({ n: 7 }, place)
    const history = []
    for await (const each of graph.getStateHistory(place)) history.push(each)
    for (const each of history) {
      const copied = await graph.updateState(each.config, null, '__copy__')
      expect((await graph.getState(copied)).values).toEqual(each.values)
    }
  })
})
