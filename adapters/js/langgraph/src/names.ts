import { createHash } from 'node:crypto'

/** The longest thread_id, in bytes of UTF-8. */
export const threadIdBytesMax = 400

/** The longest checkpoint id, in bytes of UTF-8. LangGraph's are UUIDs of 36. */
export const checkpointIdBytesMax = 64

// A thread's id in Dormouse takes no control characters.
const control = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Returns text, or throws an error that says what is wrong with it. */
export function checked(name: string, text: unknown, bytesMax: number): string {
  if (typeof text !== 'string' || text === '') throw new Error(`configurable.${name} is ${JSON.stringify(text)}: give a string that is not empty`)
  const bytes = Buffer.byteLength(text)
  if (bytes > bytesMax) throw new Error(`configurable.${name} has ${bytes} bytes: at most ${bytesMax} are allowed`)
  if (control.test(text)) throw new Error(`configurable.${name} ${JSON.stringify(text)} has a control character: leave it out`)
  return text
}

/** The names of the two Dormouse threads that keep one LangGraph thread. */
export class ThreadName {
  /** Checkpoints and writes. */
  readonly log: string
  /** Large values of channels. */
  readonly blobs: string
  readonly threadId: string

  constructor(prefix: string, threadId: string) {
    this.threadId = threadId
    this.log = `${prefix}t/${threadId}`
    this.blobs = `${prefix}b/${threadId}`
  }
}

/** Returns the prefix of the ids of logs. */
export const logPrefix = (prefix: string): string => `${prefix}t/`

/** The kinds and ids of the entries of one checkpoint namespace. Namespaces may be long, so kinds have a hash of it. */
export class Space {
  readonly ns: string
  readonly hash: string

  constructor(ns: string) {
    this.ns = ns
    this.hash = ns === '' ? '' : createHash('sha256').update(ns).digest('hex').slice(0, 24)
  }

  /** The kind of checkpoints. */
  get checkpoints(): string {
    return `c${this.hash}`
  }

  /** The kind of checkpoints that were put again under the same id. */
  get replaced(): string {
    return `r${this.hash}`
  }

  /** The kind of the writes to a checkpoint. */
  writes(checkpointId: string): string {
    return `w${this.hash}.${checkpointId}`
  }

  /** The id of a checkpoint's entry. */
  checkpoint(checkpointId: string): string {
    return `c${this.hash}.${checkpointId}`
  }

  /** The id of the entry that says that the thread has this namespace. */
  get id(): string {
    return `n${this.hash}`
  }
}

/** The kind of entries that name a namespace. */
export const namespaceKind = 'n'

/** The kind of entries that hold a part of a channel's value. */
export const blobKind = 'b'
