/** Sessions for the OpenAI Agents SDK on Dormouse. */
export { operationsMax } from './history.js'
export { DormouseSession, sessionIdBytesMax, type SessionOptions } from './session.js'
