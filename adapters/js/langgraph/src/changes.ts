import type { PutOperation } from '@langchain/langgraph-checkpoint'
import { tagOf } from './items.js'

/** The most ops of one commit of the store. A batch of puts that has more is several commits. */
export const commitOpsMax = 1000

/** The most bytes of the JSON of one commit, before the deletes of earlier texts. Dormouse takes 8 MiB, and 12 MB of JSON. */
const commitBytesMax = 6 << 20

/** The most bytes of what one op has beside its key, its tags, its content and its embedding. */
const opBytes = 400

/** The most bytes of a text that is indexed, with its embedding, its key and the tags of its namespace. */
export const textBytesMax = 256 << 10

/** Throws an error if a text, with other bytes of its memory, is too large to be indexed. */
export function checkText(put: PutOperation, content: string, others = 0): void {
  const bytes = Buffer.byteLength(content)
  if (bytes + others <= textBytesMax) return
  throw new Error(`item ${JSON.stringify(put.key)} has a text of ${bytes} bytes to index: with its embedding, its key and its namespace at most ${textBytesMax} are allowed: name smaller fields in index, or put it with index false`)
}

/** A text of an item that a query may find. */
export interface IndexedText {
  content: string
  vector?: Vector | undefined
}

/** An embedding, in as few digits as keep its 32-bit floats. */
export class Vector {
  readonly values: number[]
  /** In JSON, or in a commit if that is more. */
  readonly bytes: number

  constructor(values: ArrayLike<number>) {
    this.values = Array.from(values, (each) => Number(Math.fround(each).toPrecision(9)))
    this.bytes = Math.max(JSON.stringify(this.values).length, 4 * values.length)
  }

  /** Whether it has no direction, so that nothing is near it. Dormouse refuses it. */
  get zero(): boolean {
    return this.values.every((each) => each === 0)
  }
}

/** A put, and what it stores. */
export class Change {
  readonly key: string
  readonly put: PutOperation
  readonly texts: readonly IndexedText[]
  readonly tags: string[]
  /** The value in base64; undefined for a delete. */
  readonly value: string | undefined

  constructor(key: string, put: PutOperation, texts: readonly IndexedText[]) {
    this.key = key
    this.put = put
    this.texts = texts
    this.tags = put.namespace.map((_, end) => tagOf(put.namespace.slice(0, end + 1)))
    this.value = put.value === null ? undefined : Buffer.from(JSON.stringify(put.value)).toString('base64')
  }

  /** Throws an error if a text is too large to be indexed. */
  check(): void {
    const others = 'item{}'.length + jsonBytes({ key: this.key }) + this.tags.reduce((sum, tag) => sum + Buffer.byteLength(tag), 0)
    for (const { content, vector } of this.texts) checkText(this.put, content, others + 4 * (vector?.values.length ?? 0))
  }

  /** The bytes of its ops in JSON. */
  get bytes(): number {
    const each = opBytes + jsonBytes(this.key)
    const texts = this.texts.reduce((sum, { content, vector }) => sum + each + jsonBytes(this.tags) + jsonBytes(content) + (vector?.bytes ?? 0), 0)
    return each + (this.value?.length ?? 0) + texts
  }
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Splits changes into parts that each fit into a commit. */
export function commitsOf(changes: readonly Change[]): Change[][] {
  const all: Change[][] = []
  let room = 0
  for (const change of changes) {
    const { bytes } = change
    if (all.length === 0 || bytes > room || all.at(-1)!.length === commitOpsMax) {
      all.push([])
      room = commitBytesMax
    }
    all.at(-1)!.push(change)
    room -= bytes
  }
  return all
}
