/** Checkpointer and store for LangGraph.js on Dormouse. */
export { DormouseSaver, entryBytesMax, type SaverOptions } from './saver.js'
export { checkpointIdBytesMax, threadIdBytesMax } from './names.js'
export { DormouseStore, itemTextsMax, type StoreIndex, type StoreOptions } from './store.js'
