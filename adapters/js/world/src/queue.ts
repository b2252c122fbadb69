import { RefusedError, type Client } from '@dormouse/client'
import { createWorkflowBaseUrl, createWorkflowUrl } from '@workflow/utils'
import { MessageId, parseQueueName, ValidQueueName, type Queue, type QueueOptions, type QueuePayload } from '@workflow/world'
import { ulid } from 'ulid'
import { Agent, fetch } from 'undici'
import { decode, encode } from './codec.js'
import { digest, type Keys } from './keys.js'
import { runFenced } from './owner.js'
import { bodyOf, put, unchanged } from './store.js'

/** A message that is not done. */
export interface Message {
  id: string
  queue: string
  /** The run that it is about: one process at a time handles the messages of a run. */
  run: string
  /** The payload, as encode made it. */
  payload: string
  headers?: Record<string, string>
  /** How many deliveries a handler answered. */
  deliveries: number
  /** How many answers since it was stored or deferred were failures. Messages of older builds do not have it: it counts as 0. */
  failures?: number
  /** How many attempts since the last answer got none. Messages of older builds do not have it: it counts as 0. */
  unanswered?: number
  /** Unix ms: it is not delivered earlier. */
  due: number
}

/** The names of the headers of a delivery. */
const header = { queue: 'x-vqs-queue-name', message: 'x-vqs-message-id', attempt: 'x-vqs-message-attempt', run: 'x-dormouse-run', claim: 'x-dormouse-claim', epoch: 'x-dormouse-epoch' }

/** The key of a message. */
export const messageKey = (keys: Keys, message: Message): string => `${keys.messages()}${message.run}/${message.id}`

/** Returns the run that a payload is about. Health checks are about none. */
const runOf = (payload: QueuePayload): string => ('runId' in payload ? payload.runId : 'workflowRunId' in payload ? payload.workflowRunId : 'none')

/** Stores messages. A message with the idempotency key of one that is not done is that one. */
export function queueOf(client: Client, keys: Keys, stored: (message: Message) => void): Queue['queue'] {
  return async (queue: ValidQueueName, payload: QueuePayload, options: QueueOptions = {}) => {
    const { idempotencyKey, delaySeconds = 0, headers } = options
    const id = MessageId.parse(`msg_${idempotencyKey === undefined ? ulid() : digest(JSON.stringify([queue, idempotencyKey])).slice(0, 40)}`)
    const message: Message = { id, queue, run: runOf(payload), payload: encode(payload), deliveries: 0, due: Date.now() + delaySeconds * 1000, ...(headers ? { headers } : {}) }
    try {
      await client.commit([put(messageKey(keys, message), message, unchanged(undefined))])
      stored(message)
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'revision_mismatch') throw error
    }
    return { messageId: id }
  }
}

/** Returns the route of a queue's handler. */
function route(baseUrl: string, queue: string): string {
  const { kind } = parseQueueName(ValidQueueName.parse(queue))
  return createWorkflowUrl(createWorkflowBaseUrl(baseUrl), { type: kind === 'workflow' ? 'flow' : 'step' })
}

/** The answer of a handler. */
export interface Answer {
  ok: boolean
  text: string
}

/** A handler answers when it is done, however long that takes: the fetch of Node gives up after 300 s. */
const patient = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

/** Posts a message to the handler of its queue. It throws if no handler answers. */
export async function post(baseUrl: string, message: Message, fence: { claim: string; epoch: number }, signal: AbortSignal): Promise<Answer> {
  const headers = {
    ...message.headers, 'content-type': 'application/json', [header.queue]: message.queue, [header.message]: message.id, [header.attempt]: String(message.deliveries + 1),
    [header.run]: message.run, [header.claim]: encodeURIComponent(fence.claim), [header.epoch]: String(fence.epoch),
  }
  const response = await fetch(route(baseUrl, message.queue), { method: 'POST', headers, body: message.payload, signal, dispatcher: patient })
  return { ok: response.ok, text: await response.text() }
}

/** Returns a handler of the requests that post makes. What it writes to the run applies only while the poster owns the run. */
export const createQueueHandler: Queue['createQueueHandler'] = (prefix, handler) => async (request) => {
  const queueName = ValidQueueName.safeParse(request.headers.get(header.queue))
  const messageId = MessageId.safeParse(request.headers.get(header.message))
  const attempt = Number(request.headers.get(header.attempt))
  if (!queueName.success || !messageId.success || !Number.isSafeInteger(attempt) || attempt < 1) return Response.json({ error: `the headers ${header.queue}, ${header.message} and ${header.attempt} are needed` }, { status: 400 })
  if (!queueName.data.startsWith(prefix)) return Response.json({ error: `this handler serves queues that begin with ${prefix}` }, { status: 400 })
  const run = request.headers.get(header.run)
  const claim = decodeURIComponent(request.headers.get(header.claim) ?? '')
  const epoch = Number(request.headers.get(header.epoch))
  try {
    const payload = decode(await request.text())
    const handle = () => handler(payload, { attempt, queueName: queueName.data, messageId: messageId.data })
    const result = run !== null && claim !== '' ? await runFenced(run, { claim, epoch }, handle) : await handle()
    return Response.json(typeof result?.timeoutSeconds === 'number' ? { timeoutSeconds: result.timeoutSeconds } : { ok: true })
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 500 })
  }
}

/** Returns the seconds after which a handler wants the message again; undefined if it is done. */
export function again(text: string): number | undefined {
  try {
    const { timeoutSeconds } = JSON.parse(text) as { timeoutSeconds?: unknown }
    return typeof timeoutSeconds === 'number' && timeoutSeconds >= 0 ? timeoutSeconds : undefined
  } catch {
    return undefined
  }
}

export const messageOf = (bytes: string | undefined): Message => bodyOf<Message>(bytes)
