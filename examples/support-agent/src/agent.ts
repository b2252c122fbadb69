import type { Client } from '@dormouse/client'
import { DormouseSaver } from '@dormouse/langgraph'
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { Ledger, type Done } from './ledger.js'
import { ScriptedModel } from './model.js'
import { orders, type ToolName } from './tickets.js'

/** What a reviewer is asked. */
export interface Question {
  call: string
  order: string
  cents: number
}

/** What the agent tells about its work. */
export interface Watcher {
  /** Called when a call is done and its answer is not stored. */
  done: (done: Done, again: boolean) => Promise<void>
}

/** Returns the graph of the agent. Its checkpoints, and what its tools do, are under the fence of the client. */
export function build(client: Client, watcher: Watcher) {
  const model = new ScriptedModel()
  const ledger = new Ledger(client)

  const think = async ({ messages }: typeof MessagesAnnotation.State) => ({ messages: [await model.invoke(messages)] })

  const act = async ({ messages }: typeof MessagesAnnotation.State) => {
    const [call] = (messages.at(-1) as AIMessage).tool_calls ?? []
    if (!call?.id) throw new Error('the last message has no tool call')
    const order = String(call.args.order)
    const { done, again } = await ledger.once({ call: call.id, tool: call.name, ...use(call.name as ToolName, call.id, order, messages.at(-2)?.text ?? '') })
    await watcher.done(done, again)
    return { messages: [new ToolMessage({ tool_call_id: call.id, name: call.name, content: done.result })] }
  }

  return new StateGraph(MessagesAnnotation)
    .addNode('think', think)
    .addNode('act', act)
    .addEdge(START, 'think')
    .addConditionalEdges('think', ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'act' : END))
    .addEdge('act', 'think')
    .compile({ checkpointer: new DormouseSaver(client, { prefix: 'support/' }) })
}

/** Returns what a call does. A refund asks a reviewer first: the graph stops there, and goes on with the answer in any process. */
function use(tool: ToolName, call: string, order: string, before: string): { result: string; cents: number } {
  const { item, cents } = orders[order]!
  switch (tool) {
    case 'look_up_order': return { result: `order ${order}: ${item}, ${cents} cents`, cents: 0 }
    case 'read_policy': return { result: 'damaged goods are refunded after a review', cents: 0 }
    case 'refund': {
      const approved = interrupt<Question, boolean>({ call, order, cents })
      return approved ? { result: `refunded ${cents} cents`, cents } : { result: 'the refund was denied', cents: 0 }
    }
    case 'reply': return { result: `told the customer: ${before}`, cents: 0 }
  }
}
