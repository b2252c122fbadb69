import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'

/** A value of a channel that entries of the blobs' thread hold. */
export interface BlobRef {
  version: number | string
  type: string
  /** The ids of the entries, in order. */
  parts: string[]
}

/** What an entry holds as one sequence of bytes. */
export interface Part {
  name: string
  type: string
  size: number
}

/** The payload of a checkpoint's entry. Its bytes are the parts, one after the other. */
export interface CheckpointPayload {
  id: string
  parent?: string
  /** The checkpoint without its channel_values, its metadata, then the small values of channels. */
  parts: Part[]
  blobs?: Record<string, BlobRef>
  /** Writes to it may come before it in the log. */
  early?: true
}

/** The payload of an entry of writes. Its bytes are the values. */
export interface WritesPayload {
  checkpoint: string
  task: string
  path?: string
  /** name is the channel. */
  parts: (Part & { idx: number })[]
}

/** A value as bytes. */
export interface Dumped {
  type: string
  bytes: Uint8Array
}

/** Serializes a value. */
export async function dump(serde: SerializerProtocol, value: unknown): Promise<Dumped> {
  const [type, bytes] = await serde.dumpsTyped(value)
  return { type, bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes }
}

/** Joins parts to one sequence of bytes. */
export function join(all: readonly { bytes: Uint8Array }[]): Buffer {
  return Buffer.concat(all.map((each) => each.bytes))
}

/** Returns each part with its bytes. */
export function* split<P extends Part>(parts: readonly P[], bytes: string | undefined): Generator<[P, Uint8Array]> {
  const all = Buffer.from(bytes ?? '', 'base64')
  let at = 0
  for (const part of parts) {
    yield [part, all.subarray(at, at + part.size)]
    at += part.size
  }
}

/** Sets a member, also one named __proto__, as a plain member. */
export function setOwn<T>(target: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}
