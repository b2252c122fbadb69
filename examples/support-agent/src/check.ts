import { deepStrictEqual as equal } from 'node:assert/strict'
import type { Client } from '@dormouse/client'
import type { AIMessage, BaseMessage, ToolMessage } from '@langchain/core/messages'
import type { build } from './agent.js'
import { Ledger } from './ledger.js'
import { approvedMax, orders, plan, tickets } from './tickets.js'

/** Throws unless each step was done once, each call has one answer, and the right money was paid. */
export async function check(client: Client, graph: ReturnType<typeof build>): Promise<void> {
  const { done, cents } = await new Ledger(client).read()
  for (const { id } of tickets) {
    const calls = plan.map((tool, at) => [`${id}.${at + 1}`, tool])
    equal(done.filter((each) => each.call.startsWith(`${id}.`)).map((each) => [each.call, each.tool]), calls, `the ledger of ${id}`)
    const { values, next } = await graph.getState({ configurable: { thread_id: id } })
    const messages = values.messages as BaseMessage[]
    equal(next, [], `${id} is closed`)
    equal(messages.flatMap((each) => (each as AIMessage).tool_calls ?? []).map((call) => call.id), calls.map(([call]) => call), `the calls of ${id}`)
    const answers = messages.filter((each) => each.getType() === 'tool') as ToolMessage[]
    equal(answers.map((each) => [each.tool_call_id, each.content]), done.filter((each) => each.call.startsWith(`${id}.`)).map((each) => [each.call, each.result]), `the answers of ${id}`)
    equal(messages.at(-1)?.text, `The ticket ${id} is closed.`)
  }
  equal(done.length, tickets.length * plan.length, 'the ledger has nothing else')
  equal(cents, tickets.map(({ order }) => orders[order]!.cents).filter((each) => each <= approvedMax).reduce((a, b) => a + b), 'the money that was paid')
  console.log(`  ${done.length} steps of ${tickets.length} tickets were done once each, and ${cents} cents were paid`)
}
