import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'

/** How many steps a run has. */
export const steps = 50

/** The text of a message, in characters. */
const messageChars = 300

const State = Annotation.Root({
  n: Annotation<number>({ reducer: (_, next) => next, default: () => 0 }),
  messages: Annotation<{ role: string; content: string }[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
})

/** Returns a graph of one node that runs 50 times. Each step adds a message to the state. */
export function build(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode('step', ({ n }) => ({ n: n + 1, messages: [{ role: 'assistant', content: text(n) }] }))
    .addEdge(START, 'step')
    .addConditionalEdges('step', ({ n }) => (n < steps ? 'step' : END))
    .compile({ checkpointer })
}

const text = (n: number): string => Array.from({ length: messageChars }, (_, at) => String.fromCharCode(97 + ((n * 31 + at * 17) % 26))).join('')

/** Runs a thread from its start to its end and returns the time in ms. */
export async function run(checkpointer: BaseCheckpointSaver, thread: string): Promise<number> {
  const graph = build(checkpointer)
  const began = performance.now()
  const state = await graph.invoke({ n: 0 }, { configurable: { thread_id: thread }, recursionLimit: steps + 10, durability: 'sync' })
  const took = performance.now() - began
  if (state.n !== steps || state.messages.length !== steps) throw new Error(`thread ${thread} ended after ${state.n} steps with ${state.messages.length} messages`)
  return took
}
