import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Client, type Options } from '../src/index.js'

/** What a scripted node got. */
export interface Got {
  url: URL
  method: string
  headers: Headers
  body: string
}

export type Reply = (got: Got) => Response | Promise<Response>

/** Returns a client whose nodes answer by a script, one reply for each attempt, and what they got. */
export function scripted(replies: Reply[], options: Partial<Options> = {}): { client: Client; got: Got[] } {
  const got: Got[] = []
  const answer = async (input: string | URL | globalThis.Request, init: RequestInit = {}): Promise<Response> => {
    const each = { url: new URL(String(input)), method: init.method ?? 'GET', headers: new Headers(init.headers), body: typeof init.body === 'string' ? init.body : '' }
    got.push(each)
    const reply = replies[got.length - 1] ?? replies.at(-1)!
    const aborted = new Promise<never>((_resolve, reject) => init.signal?.addEventListener('abort', () => reject(init.signal!.reason)))
    aborted.catch(() => undefined)
    const response = await Promise.race([reply(each), aborted])
    init.signal?.throwIfAborted()
    return response
  }
  const client = new Client({ endpoints: ['http://a', 'http://b', 'http://c'], fetch: answer as typeof fetch, timeoutMs: 60_000, ...options })
  return { client, got }
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Reply => () =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } })

export const problem = (code: string, status: number, more: object = {}): Reply =>
  json({ type: `urn:dormouse:problem:${code}`, title: code, status, detail: code, code, ...more }, status, { 'Content-Type': 'application/problem+json' })

export const lost: Reply = () => { throw new TypeError('fetch failed') }

export const stream = (text: string): Reply => () => new Response(text, { headers: { 'Content-Type': 'text/event-stream' } })

export const broken: Reply = () => new Response('{"key":', { headers: { 'Content-Type': 'application/json', ETag: '"1"' } })

/** The options of a client whose calls end while their nodes still fail. */
export const ends = { timeoutMs: 300 }

/** Serves until the test ends and returns the URL of the server. */
export async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close(() => undefined).closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
