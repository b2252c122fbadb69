import type { Client, Draft, Entry } from '@dormouse/client'
import type { Streamer } from '@workflow/world'
import { checkId, type Keys } from './keys.js'
import { fenceOf } from './owner.js'
import { entries, read } from './store.js'

/** The kinds of the entries of a stream: a chunk, and its end. */
const chunkKind = 'chunk'
const endKind = 'end'

/** The most bytes of the chunks of one commit. A cluster takes 8 MiB. */
const commitBytesMax = 4 << 20

const bytesOf = (chunk: string | Uint8Array): Buffer => Buffer.from(chunk as Uint8Array)

/** Streams are threads: a chunk is an entry, so the index of a chunk is its seq. */
export function streamsOf(client: Client, keys: Keys): Streamer['streams'] {
  const thread = (run: string, name: string): string => keys.streams(checkId('runId', run)) + checkId('the name of a stream', name)

  const append = async (run: string, name: string, drafts: Draft[]): Promise<void> => {
    const id = thread(await run, name)
    for (let at = 0, size = 0, from = 0; at <= drafts.length; at++) {
      const next = drafts[at]?.bytes?.length ?? 0
      if (at > from && (at === drafts.length || size + next > commitBytesMax || at - from === 500)) {
        await client.commit([{ op: 'append_thread', thread: id, entries: drafts.slice(from, at) }], fenceOf(run))
        from = at
        size = 0
      }
      size += next
    }
  }

  /** Returns how many chunks a stream has, and whether it is closed. Its first end counts: what comes after is no part of it. */
  const state = async (id: string): Promise<{ chunks: number; done: boolean }> => {
    const found = await read(client, [{ read: 'load_entries', thread: id, kinds: [endKind], limit: 1 }, { read: 'load_entries', thread: id, tail: 1 }])
    const [end, last] = found.map((each) => (each as { items: Entry[] } | undefined)?.items[0])
    return { chunks: end?.seq ?? (last ? last.seq + 1 : 0), done: end !== undefined }
  }

  const writeMulti = (run: string, name: string, chunks: (string | Uint8Array)[]): Promise<void> =>
    append(run, name, chunks.map((chunk) => ({ kind: chunkKind, content_type: 'application/octet-stream', bytes: bytesOf(chunk).toString('base64') })))

  return {
    writeMulti,
    write: (run, name, chunk) => writeMulti(run, name, [chunk]),
    close: (run, name) => append(run, name, [{ kind: endKind }]),
    list: async (run) => {
      const prefix = keys.streams(checkId('runId', run))
      const names: string[] = []
      for (let after: string | undefined; ;) {
        const page = await client.threads.list({ prefix, limit: 500, ...(after === undefined ? {} : { after }) })
        names.push(...page.items.map(({ id }) => id.slice(prefix.length)))
        if (!page.next) return names
        after = page.next
      }
    },
    getInfo: async (run, name) => {
      const { chunks, done } = await state(thread(run, name))
      return { tailIndex: chunks - 1, done }
    },
    getChunks: async (run, name, options) => {
      const id = thread(run, name)
      const [{ done, chunks }, found] = [await state(id), await entries(client, id, { ...options, limit: Math.min(options?.limit ?? 100, 1000) }, (entry) => entry)]
      const end = found.data.findIndex((entry) => entry.kind === endKind || (done && entry.seq >= chunks))
      const data = found.data.slice(0, end === -1 ? undefined : end).map((entry) => ({ index: entry.seq, data: new Uint8Array(Buffer.from(entry.bytes ?? '', 'base64')) }))
      const hasMore = data.length > 0 && data.at(-1)!.index + 1 < chunks
      return { data, cursor: hasMore ? found.cursor : null, hasMore, done }
    },
    get: async (run, name, startIndex = 0) => {
      const id = thread(run, name)
      if (startIndex === 0) return follow(client, id, 0)
      const { chunks } = await state(id)
      return follow(client, id, startIndex < 0 ? Math.max(0, chunks + startIndex) : startIndex, chunks)
    },
  }
}

/**
 * Returns the chunks of a stream from an index on, those to come too, until it is closed. chunks is how many
 * there were: the end may come before the index.
 */
function follow(client: Client, id: string, from: number, chunks = from): ReadableStream<Uint8Array> {
  const stopped = new AbortController()
  const watched = chunksFrom(client, id, from, chunks, stopped.signal)
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await watched.next()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        if (!stopped.signal.aborted) controller.error(error)
      }
    },
    async cancel(reason) {
      stopped.abort(reason)
      await watched.return().catch(() => undefined)
    },
  })
}

async function* chunksFrom(client: Client, id: string, from: number, chunks: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  // A reader may come before the first chunk. Only an existing thread can be watched.
  await client.commit([{ op: 'append_thread', thread: id }], { signal })
  for await (const entry of client.threads.watch(id, { from: Math.min(from, chunks), signal })) {
    if (entry.kind === endKind) return
    if (entry.seq < from) continue
    const bytes = new Uint8Array(Buffer.from(entry.bytes ?? '', 'base64'))
    if (bytes.length > 0) yield bytes
  }
}
