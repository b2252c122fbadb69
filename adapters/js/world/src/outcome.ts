import { again, type Answer, type Message } from './queue.js'

/** The wait in ms before a message is tried again: it doubles, up to a bound. */
export const retryMs = 500
export const retryMsMax = 30_000

/** After how many failures in a row a message is given up. The runtime gives up earlier. */
export const failuresMax = 256

/** What comes after an attempt to deliver a message. */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'again'; message: Message }
  | { kind: 'given up'; message: Message }

/** Returns what comes after an answer of a handler. */
export function afterAnswer(message: Message, answer: Answer, now = Date.now()): Outcome {
  const deliveries = message.deliveries + 1
  if (!answer.ok) return afterFailure({ ...message, deliveries, failures: (message.failures ?? 0) + 1, unanswered: 0 }, now)
  const seconds = again(answer.text)
  if (seconds === undefined) return { kind: 'done' }
  return { kind: 'again', message: { ...message, deliveries, failures: 0, unanswered: 0, due: now + seconds * 1000 } }
}

function afterFailure(message: Message & { failures: number }, now: number): Outcome {
  if (message.failures >= failuresMax) return { kind: 'given up', message }
  return { kind: 'again', message: { ...message, due: now + waitAfter(message.failures) } }
}

/** Returns a message that no handler answered. It waits as after a failure, but it is never given up for that: the handler may be down for hours. */
export function afterNoAnswer(message: Message, now = Date.now()): Message {
  const unanswered = (message.unanswered ?? 0) + 1
  return { ...message, unanswered, due: now + waitAfter((message.failures ?? 0) + unanswered) }
}

/** Returns the wait in ms after a number of attempts without success, with jitter. */
function waitAfter(attempts: number): number {
  return Math.min(retryMsMax, retryMs * 2 ** Math.min(attempts - 1, 10)) * (0.5 + Math.random() / 2)
}
