import { MemorySession, user, assistant, Agent, Runner, tool, setTracingDisabled, type AgentInputItem } from '@openai/agents'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { DormouseSession, operationsMax, sessionIdBytesMax } from '../src/index.js'
import { client, follower, killLeader, prefix } from './kit.js'
import { FakeModel, message } from './model.js'

setTracingDisabled(true)

/** Returns sessions of one id on several clients. */
function shared(count: number): DormouseSession[] {
  const options = { sessionId: randomUUID(), prefix: prefix() }
  return Array.from({ length: count }, (_, at) => new DormouseSession(at % 2 ? client() : follower(), options))
}

const call = (callId: string, args: string): AgentInputItem => ({ type: 'function_call', callId, name: 'f', status: 'completed', arguments: args })
const strip = (items: AgentInputItem[]): unknown => JSON.parse(JSON.stringify(items))

describe('DormouseSession', () => {
  it('answers as MemorySession does to random calls, from two processes', async () => {
    for (let round = 0; round < 4; round++) {
      const ours = shared(2)
      const theirs = new MemorySession()
      let seed = round * 7919 + 1
      const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n
      for (let step = 0; step < 40; step++) {
        const one = ours[random(2)]!
        const items = Array.from({ length: random(3) + 1 }, (_, at) => (random(3) ? user(`u${step}.${at}`) : call(`c${random(3)}`, `${step}`)))
        const outcomes = await Promise.all([one, theirs].map(async (session): Promise<unknown> => {
          const choice = (step * 31 + round * 17) % 13
          try {
            if (choice < 5) return await session.addItems(items)
            if (choice < 7) return await session.popItem()
            if (choice === 7) return await session.applyHistoryMutations({ mutations: [{ type: 'replace_function_call', callId: 'c1', replacement: call('c1', `new${step}`) as never }] })
            if (choice === 8) return await session.applyHistoryTransaction({ operationId: `op${step % 5}`, transaction: { type: 'append_items', items } })
            if (choice === 9) {
              const expectedSuffix = await session.getItems(2)
              return await session.applyHistoryTransaction({ operationId: `suffix${step}`, transaction: { type: 'replace_suffix', expectedSuffix, replacement: items } })
            }
            if (choice === 10) return await session.applyHistoryTransaction({ operationId: `bad${step}`, transaction: { type: 'replace_suffix', expectedSuffix: [user('never')], replacement: [] } })
            if (choice === 11 && step % 4 === 0) return await session.clearSession()
            return await session.getItems(3)
          } catch (error) {
            return (error as Error).name
          }
        }))
        expect(strip(outcomes[0] as never ?? null)).toEqual(strip(outcomes[1] as never ?? null))
        for (const each of ours) expect(strip(await each.getItems())).toEqual(strip(await theirs.getItems()))
      }
    }
  })

  it('keeps items as they are', async () => {
    const [one, two] = shared(2)
    const items = [user('é \u{1F600}'), { ...assistant('x'), providerData: { $dormouse: 'bytes', nested: { n: 1.5, none: null }, ['__proto__']: { a: 1 } } }, { type: 'unknown', providerData: { data: new Uint8Array([1, 2, 255]) } }] as AgentInputItem[]
    await one!.addItems(items)
    expect(await two!.getItems()).toEqual(items)
    expect(await two!.getItems(1)).toEqual(items.slice(-1))
    expect(await new DormouseSession(client()).getItems()).toEqual([])
    expect(await new DormouseSession(client()).popItem()).toBeUndefined()
  })

  it('keeps more than fits into one commit', async () => {
    const [one, two, three] = shared(3)
    const items = Array.from({ length: 30 }, (_, n) => user(`${n}`.repeat(500_000)))
    await one!.addItems(items)
    expect(await two!.getItems()).toEqual(items)
    expect(await three!.getItems(2)).toEqual(items.slice(-2))
  })

  it('gives each of 12 items once to 14 concurrent pops', async () => {
    const sessions = shared(14)
    await sessions[0]!.addItems(Array.from({ length: 12 }, (_, n) => user(`item ${n}`)))
    const popped = await Promise.all(sessions.map((each) => each.popItem()))
    expect(popped.filter((each) => each === undefined)).toHaveLength(2)
    const texts = popped.filter((each) => each !== undefined).map((each) => JSON.stringify(each))
    expect(new Set(texts).size).toBe(12)
    expect(await sessions[1]!.getItems()).toEqual([])
  })

  it('applies a transaction once, whichever process sends it, also after a compaction', async () => {
    const sessions = shared(6)
    const transaction = { type: 'append_items' as const, items: [user('once')] }
    await Promise.all(sessions.map((each) => each.applyHistoryTransaction({ operationId: 'op', transaction })))
    expect(await sessions[0]!.getItems()).toHaveLength(1)
    await sessions[1]!.replaceHistoryWithCompaction([user('summary')])
    await sessions[2]!.applyHistoryTransaction({ operationId: 'op', transaction })
    for (const each of sessions) expect(await each.getItems()).toEqual([user('summary')])
    await expect(sessions[3]!.applyHistoryTransaction({ operationId: 'op', transaction: { ...transaction, items: [user('other')] } })).rejects.toThrow('different transaction')
    expect(() => sessions[3]!.applyHistoryTransaction({ operationId: ' ', transaction })).toThrow('operationId')
    expect(operationsMax).toBe(1000)
  })

  it('applies a transaction with lone surrogates once, also by a process that reads the session again', async () => {
    const [first, second] = shared(2) as [DormouseSession, DormouseSession]
    const cut = user('cut \ud83d')
    await first.addItems([cut])
    const operation = { operationId: 'op \ud83d', transaction: { type: 'replace_suffix' as const, expectedSuffix: [cut], replacement: [user('whole')] } }
    await second.applyHistoryTransaction(operation)
    for (const each of [first, second]) await each.applyHistoryTransaction(operation)
    for (const each of [first, second]) expect(await each.getItems()).toEqual([user('whole')])
  })

  it('refuses an id that is too long', () => {
    new DormouseSession(client(), { sessionId: 'x'.repeat(sessionIdBytesMax) })
    expect(() => new DormouseSession(client(), { sessionId: 'x'.repeat(sessionIdBytesMax + 1) })).toThrow('give 1 to 400')
  })
})

describe('the runner of the library', () => {
  it('goes on with a session in another process, while the leader is killed', async () => {
    const [one, two] = shared(2)
    let ran = 0
    const weather = tool({ name: 'weather', description: 'The weather', parameters: z.object({ city: z.string() }), execute: async () => { ran++; await killLeader(); return 'rain' } })
    const model = new FakeModel([
      [{ type: 'function_call', callId: 'c1', name: 'weather', status: 'completed', arguments: '{"city":"Bern"}' }],
      [message('It rains.')], [message('You asked about Bern.')],
    ])
    const agent = new Agent({ name: 'weather', model, tools: [weather] })
    const first = await new Runner().run(agent, 'How is the weather in Bern?', { session: one })
    expect(first.finalOutput).toBe('It rains.')
    const second = await new Runner().run(agent, 'What did I ask?', { session: two })
    expect(second.finalOutput).toBe('You asked about Bern.')
    expect(ran).toBe(1)
    const history = model.asked.at(-1)!.input as AgentInputItem[]
    expect(history.map((each) => each.type ?? 'message')).toEqual(['message', 'function_call', 'function_call_result', 'message', 'message'])
    expect(await one!.getItems()).toHaveLength(6)
  })

  it('does the same with a stream, and as with MemorySession', async () => {
    const results = []
    for (const session of [shared(1)[0]!, new MemorySession()]) {
      const model = new FakeModel([[message('one')], [message('two')]])
      const agent = new Agent({ name: 'a', model })
      const streamed = await new Runner().run(agent, 'first', { session, stream: true })
      await streamed.completed
      await new Runner().run(agent, [user('second'), user('third')], { session, sessionInputCallback: (history, items) => [...history.slice(-1), ...items] })
      results.push(strip(await session.getItems()), strip(model.asked.map((each) => each.input) as never))
    }
    expect(results.slice(0, 2)).toEqual(results.slice(2))
  })
})
