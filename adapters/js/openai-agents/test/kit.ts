import { randomUUID } from 'node:crypto'
import { Client } from '@dormouse/client'

const variable = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run the tests with go run ./internal/withcluster -- npm test`)
  return value
}

/** Returns a client of all nodes. */
export const client = (): Client => new Client({ endpoints: variable('DORMOUSE_URLS').split(',') })

/** Returns a client of one node that does not lead. */
export const follower = (): Client => new Client({ endpoints: variable('DORMOUSE_FOLLOWER') })

/** Returns a prefix that no other test uses. */
export const prefix = (): string => `test/${randomUUID()}/`

/** Kills the leader with SIGKILL. It starts again two seconds later. */
export async function killLeader(): Promise<void> {
  const answer = await fetch(`${variable('DORMOUSE_CONTROL')}/leader/kill`, { method: 'POST' })
  if (!answer.ok) throw new Error(`kill the leader: ${answer.status} ${await answer.text()}`)
}
