import type { Problem } from './errors.js'
import type { components } from './schema.js'
import type { CallOptions } from './transport.js'

export type Schemas = components['schemas']

/** An op of a commit. */
export type Op = Schemas['Op']
/** The result of an op with this name. */
export type ResultOf<Name> = Extract<Schemas['Result'], { op: Name }>
/** The result of a commit: one result for each op, in order. */
export interface Committed<Ops extends readonly Op[]> {
  index: number
  time: number
  results: { [I in keyof Ops]: ResultOf<Ops[I]['op']> }
}

/** A read of several at one index. */
export type Read = Schemas['Read']
type AnswerOf<Name> = Extract<Schemas['Answer'], { read: Name }>
type FoundOf<Name> = AnswerOf<Name> extends { found?: infer Found } ? NonNullable<Found> : never
/** What a read found, or why not. */
export type Found<Name> = { read: Name; found: FoundOf<Name>; error?: undefined } | { read: Name; found?: undefined; error: Problem }

export type Draft = Schemas['Draft']
export type Entry = Schemas['Entry']
export type Checkpoint = Schemas['Checkpoint']
export type Claim = Schemas['Claim']
export type Session = Schemas['Session']
export type Turned = Schemas['Turned']
export type Review = Schemas['Review']
export type Memory = Schemas['Memory']
export type Change = Schemas['Change']

/** A value as it was written. */
export interface Value {
  bytes: Uint8Array
  contentType: string
  revision: number
  /** The incarnation in which revisions count: a key that is deleted and written again has a new one. 0 from a node of an older version. */
  incarnation: number
}

/** What a write of a value builds on. A revision counts in one incarnation of its key. */
export interface Precondition {
  ifRevision?: number
  ifIncarnation?: number
}

/** A change of a scope, with its place in the feed. */
export interface Changed {
  change: Change
  /** Pass it as `after` to continue behind this change, also in another process. */
  place: string
}

/** A page of a list. */
export interface PageQuery extends CallOptions {
  prefix?: string
  after?: string
  limit?: number
  order?: 'asc' | 'desc'
}
