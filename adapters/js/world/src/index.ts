/** World of the Workflow SDK on Dormouse. */
import { randomUUID } from 'node:crypto'
import { Client, type Options } from '@dormouse/client'
import { SPEC_VERSION_CURRENT, type World } from '@workflow/world'
import { Delivery } from './delivery.js'
import { hooksOf, runsOf, stepsOf } from './entities.js'
import { eventStorage } from './events.js'
import { Keys } from './keys.js'
import { Owner } from './owner.js'
import { createQueueHandler, queueOf } from './queue.js'
import { streamsOf } from './streams.js'

export { failuresMax } from './outcome.js'

/** How a world stores and delivers. */
export interface WorldOptions {
  /** The client; from DORMOUSE_URLS, DORMOUSE_TOKEN and DORMOUSE_SCOPE if absent. */
  client?: Client
  /** The prefix of all names in Dormouse; `workflow/` if absent. */
  prefix?: string
  /** The URL of the HTTP handlers of this process; WORKFLOW_BASE_URL if absent, and http://localhost:PORT without it. */
  baseUrl?: string
  /** The id of the deployment; WORKFLOW_DEPLOYMENT_ID if absent, and `dormouse` without it. */
  deploymentId?: string
  /** How long a run stays with a process that died, in ms; 10,000 if absent. */
  ownerTtlMs?: number
  /** How many messages a process handles at a time; 100 if absent. */
  concurrency?: number
  /** How long close waits for the handlers that run, in ms; 20,000 if absent. */
  closeTimeoutMs?: number
  /** Told about errors that no caller sees; they go to console.error if absent. */
  report?: (error: unknown) => void
}

/** The URL of a node on this machine. */
const endpointDefault = 'http://127.0.0.1:7600'

function clientOfEnvironment(): Client {
  const { DORMOUSE_URLS: urls, DORMOUSE_TOKEN: token, DORMOUSE_SCOPE: scope } = process.env
  const options: Options = { endpoints: (urls || endpointDefault).split(',') }
  if (token) options.token = token
  if (scope) options.scope = scope
  return new Client(options)
}

function baseUrlOfEnvironment(): string {
  const { WORKFLOW_BASE_URL: url, PORT: port } = process.env
  if (url) return url
  if (port) return `http://localhost:${port}`
  throw new Error('the URL of the handlers is not known: set WORKFLOW_BASE_URL or PORT, or give baseUrl')
}

/** Returns a world. It delivers messages once start was called. */
export function createWorld(options: WorldOptions = {}): World {
  const client = options.client ?? clientOfEnvironment()
  const keys = new Keys(options.prefix ?? process.env.DORMOUSE_WORKFLOW_PREFIX ?? 'workflow/')
  const owner = new Owner(client, keys, randomUUID(), options.ownerTtlMs ?? 10_000)
  const delivery = new Delivery(client, keys, owner, {
    baseUrl: () => options.baseUrl ?? baseUrlOfEnvironment(),
    concurrency: options.concurrency ?? 100,
    closeTimeoutMs: options.closeTimeoutMs ?? 20_000,
    report: options.report ?? ((error) => console.error('[@dormouse/world]', error)),
  })
  return {
    specVersion: SPEC_VERSION_CURRENT,
    runs: runsOf(client, keys),
    steps: stepsOf(client, keys),
    events: eventStorage(client, keys),
    hooks: hooksOf(client, keys),
    streams: streamsOf(client, keys),
    queue: queueOf(client, keys, (message) => delivery.add(message)),
    createQueueHandler,
    getDeploymentId: async () => options.deploymentId ?? process.env.WORKFLOW_DEPLOYMENT_ID ?? 'dormouse',
    start: () => delivery.start(),
    close: async () => {
      await delivery.close()
      await owner.close()
    },
  }
}
