/** A client of Dormouse, a replicated store of AI agents' state. */
export * from './client.js'
export { DormouseError, LostError, RefusedError, UnknownError, settle, type Code, type Outcome, type Problem } from './errors.js'
export { Hold } from './hold.js'
export type { LoneSurrogates } from './json.js'
export type { components, operations, paths } from './schema.js'
export { Transport, type Answer, type CallOptions, type Fence, type Options, type Query, type Request } from './transport.js'
