import { useRef } from 'preact/hooks'
import { scope } from '../app/address.js'
import { transport, watch, type Schemas } from './client.js'
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

/** Calls whenever something changes whose path in the feed begins with prefix. */
export function useChanges(prefix: string, changed: () => void): void {
  const latest = useRef(changed)
  latest.current = changed
  useWork(async (signal) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    signal.addEventListener('abort', () => clearTimeout(timer))
    while (!signal.aborted) {
      const next = (await newestIndex(signal)) + 1
      for await (const event of watch<Change>('/v1/changes', { signal, query: { prefix, from_index: next } })) {
        clearTimeout(timer)
        timer = setTimeout(() => latest.current(), pauseMs)
        if (event.kind !== 'change') break // the feed lost its beginning: a new one has what comes next
      }
    }
  }, [prefix, scope.value])
}
