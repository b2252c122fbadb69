process.env.DORMOUSE_URLS ??= 'http://127.0.0.1:7600'
import { Client } from '@dormouse/client'
import { DormouseSaver, DormouseStore } from '@dormouse/langgraph'
import { Annotation, END, getStore, START, StateGraph } from '@langchain/langgraph'

const client = new Client({ endpoints: process.env.DORMOUSE_URLS!.split(','), token: process.env.DORMOUSE_TOKEN })
const checkpointer = new DormouseSaver(client)
const store = new DormouseStore(client, { index: { fields: ['text'] } }) // search by words; add embeddings to search by meaning

const State = Annotation.Root({ messages: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }) })
const graph = new StateGraph(State)
  .addNode('answer', async ({ messages }) => {
    await getStore()!.put(['facts', 'ada'], `fact-${messages.length}`, { text: messages.at(-1)! })
    return { messages: ['noted'] }
  })
  .addEdge(START, 'answer').addEdge('answer', END)
  .compile({ checkpointer, store })

const thread = { configurable: { thread_id: 'ada-1' }, durability: 'sync' as const }
await graph.invoke({ messages: ['I like green tea'] }, thread)
await graph.invoke({ messages: ['and rain'] }, thread) // goes on where the thread ended, in any process

console.log(await store.search(['facts'], { query: 'tea' }))
await checkpointer.copyThread('ada-1', 'ada-2') // a fork: shares all checkpoints
await checkpointer.deleteThread('ada-1') // refuses the late writes of its runs from now on
await checkpointer.deleteThread('ada-2')
