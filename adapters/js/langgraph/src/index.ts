/** Checkpointer and store for LangGraph.js on Dormouse. */
export { DormouseSaver, entryBytesMax, type SaverOptions } from './saver.js'
export { checkpointIdBytesMax, threadIdBytesMax } from './names.js'
