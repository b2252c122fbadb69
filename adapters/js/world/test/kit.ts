import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@dormouse/client'
import type { Queue, World } from '@workflow/world'
import { createWorld, type WorldOptions } from '../src/index.js'

export const variable = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run the tests with go run ./internal/withcluster -- npm test`)
  return value
}

/** Returns a client of one node that does not lead. */
export const follower = (): Client => new Client({ endpoints: variable('DORMOUSE_FOLLOWER') })

/** Returns a client of all nodes. */
export const client = (): Client => new Client({ endpoints: variable('DORMOUSE_URLS').split(',') })

export const prefix = (): string => `test/${randomUUID()}/`

/** Returns a world, and ends it after the test. */
export function world(options: WorldOptions = {}): World {
  const made = createWorld({ client: client(), prefix: prefix(), report: () => undefined, ...options })
  onTestFinished(async () => { await made.close?.() })
  return made
}

export type Handler = Parameters<Queue['createQueueHandler']>[1]

/** Serves the queues of workflows by a handler, and returns its URL. */
export async function serve(handler: Handler): Promise<string> {
  const handle = createWorld({ client: client() }).createQueueHandler('__wkf_workflow_', handler)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const answer = await handle(new Request(`http://localhost${request.url}`, { method: 'POST', headers: request.headers as Record<string, string>, body: Buffer.concat(chunks) }))
    response.writeHead(answer.status).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  onTestFinished(() => void server.close(() => undefined).closeAllConnections())
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

/** Kills the leader with SIGKILL. It starts again two seconds later. */
export async function killLeader(): Promise<void> {
  const answer = await fetch(`${variable('DORMOUSE_CONTROL')}/leader/kill`, { method: 'POST' })
  if (!answer.ok) throw new Error(`kill the leader: ${answer.status} ${await answer.text()}`)
}

/** The server of the suite, as a process that the test may kill. */
export async function server(shared: string): Promise<{ process: ChildProcess; url: string }> {
  const path = new URL('server.mjs', import.meta.resolve('@workflow/world-testing')).pathname
  const env = { ...process.env, WORKFLOW_TARGET_WORLD: './dist/index.js', DORMOUSE_WORKFLOW_PREFIX: shared, CONTROL_FD: '3', PORT: '' }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'ignore', 'inherit', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for await (const chunk of child.stdio[3] as AsyncIterable<Buffer>) {
    text += chunk.toString()
    if (text.includes('\n')) break
  }
  return { process: child, url: `http://localhost:${(JSON.parse(text) as { info: { port: number } }).info.port}` }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
