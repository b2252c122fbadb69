/** A client of Dormouse, a replicated store of AI agents' state. */
export { ClaimHold } from './claim.js'
export { Client } from './client.js'
export { DormouseError, LostError, RefusedError, UnknownError, settle, type Code, type Outcome, type Problem } from './errors.js'
export { Hold } from './hold.js'
export type { LoneSurrogates } from './json.js'
export type { components, operations, paths } from './schema.js'
export { Transport, type Answer, type CallOptions, type Fence, type Options, type Query, type Request } from './transport.js'
export type {
  Change, Changed, Checkpoint, Claim, Committed, Draft, Entry, Found, Memory, Op, PageQuery, Precondition, Read, ResultOf, Review, Session, Turned, Value,
} from './types.js'
