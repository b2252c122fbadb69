import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

/** The state of a call. */
export interface Loaded<T> {
  data: T | undefined
  error: unknown
  loading: boolean
  /** Calls again; data stays until the answer has come. */
  reload: () => void
}

/**
 * Calls when the page opens and whenever one of inputs changes, and again each everyMs while the page is
 * visible. Answers to older inputs are dropped.
 */
export function useCall<T>(call: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[], everyMs = 0): Loaded<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown; loading: boolean }>({ data: undefined, error: undefined, loading: true })
  const [round, setRound] = useState(0)
  const latest = useRef(call)
  latest.current = call
  const inputsKey = JSON.stringify(inputs)
  const shown = useRef(inputsKey)
  useEffect(() => {
    const ended = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    if (shown.current !== inputsKey) {
      shown.current = inputsKey
      setState({ data: undefined, error: undefined, loading: true })
    }
    const run = async (): Promise<void> => {
      try {
        const data = await latest.current(ended.signal)
        if (!ended.signal.aborted) setState({ data, error: undefined, loading: false })
      } catch (error) {
        if (!ended.signal.aborted) setState((s) => ({ data: s.data, error, loading: false }))
      }
      if (everyMs > 0 && !ended.signal.aborted) timer = setTimeout(tick, everyMs)
    }
    const tick = (): void => {
      if (document.visibilityState === 'hidden') timer = setTimeout(tick, everyMs)
      else void run()
    }
    void run()
    return () => {
      clearTimeout(timer)
      ended.abort()
    }
  }, [inputsKey, everyMs, round])
  return { ...state, reload: useCallback(() => setRound((r) => r + 1), []) }
}

/** Runs work until the page closes or one of inputs changes. */
export function useWork(work: (signal: AbortSignal) => Promise<void>, inputs: readonly unknown[]): void {
  const latest = useRef(work)
  latest.current = work
  useEffect(() => {
    const ended = new AbortController()
    void latest.current(ended.signal).catch(() => undefined)
    return () => ended.abort()
  }, [JSON.stringify(inputs)])
}
