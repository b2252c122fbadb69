/** Waits, and rejects with the reason of the signal if that is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const aborted = (): void => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

/** Returns what a promise brings, or rejects with the reason of the signal once that is aborted. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason)
    if (signal.aborted) aborted()
    signal.addEventListener('abort', aborted, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  })
}

/** The wait before the attempt with this number, from 0: doubled each time, with jitter. */
export function backoff(attempt: number): number {
  const most = Math.min(1000, 25 * 2 ** Math.min(attempt, 6))
  return most / 2 + Math.random() * (most / 2)
}

/** A signal that is aborted with any of others, by cancel, or by a timer. release detaches it from the others and stops the timer. */
export class Linked {
  private readonly controller = new AbortController()
  private readonly detach: (() => void)[] = []
  private timer: ReturnType<typeof setTimeout> | undefined
  private released = false

  constructor(...signals: (AbortSignal | undefined)[]) {
    for (const signal of signals) {
      if (!signal) continue
      const aborted = (): void => this.controller.abort(signal.reason)
      if (signal.aborted) aborted()
      signal.addEventListener('abort', aborted, { once: true })
      this.detach.push(() => signal.removeEventListener('abort', aborted))
    }
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  cancel(reason: unknown): void {
    this.controller.abort(reason)
  }

  /** Aborts the signal after a time in ms, which replaces an earlier one. It does nothing after release. */
  cancelIn(ms: number, reason: () => unknown): void {
    clearTimeout(this.timer)
    if (!this.released) this.timer = setTimeout(() => this.cancel(reason()), ms)
  }

  release(): void {
    this.released = true
    clearTimeout(this.timer)
    for (const detach of this.detach) detach()
  }
}
