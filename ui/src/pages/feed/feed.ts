import { useEffect, useRef, useState } from 'preact/hooks'
import { RefusedError } from '../../../../sdk/js/src/errors.js'
import { codeOf, watch } from '../../api/client.js'
import { newestIndex, type Change } from '../../api/data.js'

/** The changes that are kept; older ones are dropped. */
export const keptMax = 10_000
/** The page opens with the changes of so many log entries. */
const backMax = 2_000
/** Changes that come together are drawn together. */
const drawMs = 100

/** The changes of a scope, live. */
export interface Feed {
  rows: readonly Change[]
  /** Changes that came while the list was paused. */
  waiting: number
  /** Changes that were dropped for newer ones. */
  dropped: number
  error: unknown
  /** The first index that the node still has, if that is later than where the page wanted to begin. */
  floor: number
  /** Begins again after an error; after the deletion of the scope, with what comes from now on. */
  retry: () => void
}

type State = Omit<Feed, 'retry'>
const none: State = { rows: [], waiting: 0, dropped: 0, error: undefined, floor: 0 }

/** Follows the changes whose path begins with prefix. While it is paused, it collects what comes. */
export function useFeed(scope: string, prefix: string, from: number | undefined, paused: boolean): Feed {
  const [feed, setFeed] = useState<State>(none)
  const [round, setRound] = useState(0)
  const deleted = useRef(false)
  const least = useRef(0) // earlier changes went with the scope
  const came = useRef<Change[]>([])
  const lost = useRef(0)
  const still = useRef(paused)
  still.current = paused
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const draw = (): void => {
    timer.current = undefined
    if (still.current) {
      setFeed((f) => ({ ...f, waiting: came.current.length + lost.current }))
      return
    }
    const fresh = came.current
    const over = lost.current
    came.current = []
    lost.current = 0
    setFeed((f) => {
      const all = f.rows.concat(fresh)
      const drop = Math.max(0, all.length - keptMax)
      return { ...f, rows: drop ? all.slice(drop) : all, waiting: 0, dropped: f.dropped + drop + over }
    })
  }
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    came.current = []
    lost.current = 0
    setFeed(none)
    const run = async (): Promise<void> => {
      const newest = await newestIndex(signal)
      if (deleted.current) least.current = newest + 1
      deleted.current = false
      let begin = Math.max(1, least.current, from ?? newest - backMax)
      for (;;) {
        try {
          for await (const change of follow(prefix, begin, signal)) {
            begin = change.index + 1
            came.current.push(change)
            if (came.current.length > keptMax) {
              came.current.shift()
              lost.current++
            }
            timer.current ??= setTimeout(draw, drawMs)
          }
        } catch (error) {
          const floor = floorOf(error)
          if (floor === undefined || floor <= begin) throw error
          begin = floor
          setFeed((f) => ({ ...f, floor }))
        }
      }
    }
    run().catch((error: unknown) => {
      if (signal.aborted) return
      deleted.current = error instanceof Deleted || codeOf(error) === 'deleted'
      setFeed((f) => ({ ...f, error }))
    })
    return () => {
      ended.abort()
      clearTimeout(timer.current)
      timer.current = undefined
    }
  }, [scope, prefix, from, round])
  useEffect(() => {
    if (!paused) draw()
  }, [paused])
  return { ...feed, retry: () => setRound((n) => n + 1) }
}

/** Yields changes from an index on. It throws Compacted if the node does not keep them any more, and Deleted if the scope is deleted. */
async function* follow(prefix: string, from: number, signal: AbortSignal, query: { include?: 'body' } = {}): AsyncGenerator<Change> {
  for await (const event of watch<Change & { floor?: number }>('/v1/changes', { signal, query: { prefix, from_index: from, ...query } })) {
    if (event.kind === 'compacted') throw new Compacted(event.data.floor ?? 0)
    if (event.kind === 'deleted') throw new Deleted()
    if (event.kind === 'change') yield event.data
  }
}

/** A watch that was open lost its next changes. */
class Compacted extends Error {
  constructor(readonly floor: number) {
    super('Changes that were not read yet are no longer kept.')
  }
}

/** The scope of a watch was deleted. */
class Deleted extends Error {
  constructor() {
    super('This scope was deleted. Try again to see what is written to it from now on.')
  }
}

/** Returns the first index that is kept, if that is why a watch ended. */
function floorOf(error: unknown): number | undefined {
  if (error instanceof Compacted) return error.floor
  return error instanceof RefusedError && error.code === 'compacted' ? error.problem.floor : undefined
}

/** Returns the path of a change, as prefixes select it. */
export function pathOf(c: Change): string {
  const within = [c.agent, c.conversation, c.manager, c.instance].filter(Boolean)
  return [c.kind, ...within, c.key].join('/')
}

/** Reads what a change wrote; undefined if a later change has replaced it, or the change is no longer kept. */
export async function bodyOf(of: Change, signal: AbortSignal): Promise<Change['body'] | undefined> {
  const ended = new AbortController()
  try {
    for await (const found of follow(pathOf(of), of.index, AbortSignal.any([signal, ended.signal]), { include: 'body' })) {
      if (found.index === of.index && found.ordinal === of.ordinal) return found.body
      if (found.index > of.index) return undefined
    }
  } catch (error) {
    if (floorOf(error) === undefined) throw error
  } finally {
    ended.abort()
  }
  return undefined
}
