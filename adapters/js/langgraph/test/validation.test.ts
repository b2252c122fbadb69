// The validation suite of LangGraph, whole and unmodified, through a node that does not lead.
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation'
import { DormouseSaver } from '../src/index.js'
import { follower, prefix } from './kit.js'

const initializer = {
  checkpointerName: '@dormouse/langgraph',
  createCheckpointer: () => new DormouseSaver(follower(), { prefix: prefix() }),
}

validate(initializer)
deltaChannelHistoryTests(initializer)
