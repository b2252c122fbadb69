import { useRef } from 'preact/hooks'
import { sleep } from '../../../sdk/js/src/wait.js'
import { scope } from '../app/address.js'
import { codeOf, transport, watch, type Schemas } from './client.js'
import { useWork } from './use.js'

/** Reads the bytes of a file. */
export async function readFile(path: string, signal?: AbortSignal): Promise<Uint8Array> {
  return (await transport().bytes({ method: 'GET', path: '/v1/files/{path}', params: { path }, scope: scope.value, ...(signal ? { signal } : {}) })).body
}

/** Returns the newest index of the log that a node has applied. */
export async function newestIndex(signal: AbortSignal): Promise<number> {
  return (await transport().call({ method: 'GET', path: '/v1/whoami', signal })).index
}

export type Change = Schemas['Change']

/** Changes that come together call once. */
const pauseMs = 150
/** A feed that has ended begins again after this time. */
const againMs = 2_000
/** Refusals that another attempt does not change. */
const lasting = new Set(['forbidden', 'unauthenticated'])

/** Calls whenever something changes whose path in the feed begins with prefix. A feed that ends begins again; that calls too, as changes may be missed in between. */
export function useChanges(prefix: string, changed: () => void): void {
  const latest = useRef(changed)
  latest.current = changed
  useWork(async (signal) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    signal.addEventListener('abort', () => clearTimeout(timer))
    const call = (): void => {
      clearTimeout(timer)
      if (!signal.aborted) timer = setTimeout(() => latest.current(), pauseMs)
    }
    for (let first = true; ; first = false) {
      try {
        await follow(prefix, signal, first, call)
      } catch (error) {
        if (signal.aborted || lasting.has(codeOf(error))) return
      }
      await sleep(againMs, signal)
    }
  }, [prefix, scope.value])
}

/** Calls for each change until the feed ends; unless it is the first feed, also for what changed before it. */
async function follow(prefix: string, signal: AbortSignal, first: boolean, call: () => void): Promise<void> {
  const next = (await newestIndex(signal)) + 1
  if (!first) call()
  for await (const event of watch<Change>('/v1/changes', { signal, query: { prefix, from_index: next } })) {
    call()
    if (event.kind !== 'change') return
  }
}
