import { subscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@dormouse/client'
import { DormouseSaver } from '@dormouse/langgraph'
import { MemorySaver, type BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import Database from 'better-sqlite3'
import pg from 'pg'

/** A checkpointer that is measured. */
export interface System {
  name: string
  /** Its version and how it makes writes durable, as it says itself. */
  version: string
  saver: BaseCheckpointSaver
  /** Returns how many requests it has sent, if it counts them. */
  requests?: () => number
  close: () => Promise<void>
}

function variable(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set: run make adapters-js-bench`)
  return value
}

let sent = 0
const requests = (): number => sent
for (const channel of ['http.client.request.start', 'undici:request:create']) subscribe(channel, () => { sent++ })

async function dormouse(): Promise<System> {
  const client = new Client({ endpoints: variable('DORMOUSE_URLS') })
  const { body } = await client.call<{ members: unknown[] }>({ method: 'GET', path: '/v1/cluster' })
  const nodes = body.members.length
  if (nodes !== 1) throw new Error(`the cluster has ${nodes} nodes: measure one, as PostgreSQL and SQLite are one`)
  return { name: 'dormouse', version: 'one node, over HTTP, default settings', saver: new DormouseSaver(client), requests, close: async () => undefined }
}

async function postgres(): Promise<System> {
  const pool = new pg.Pool({ connectionString: variable('DORMOUSE_POSTGRES') })
  const settings: string[] = []
  for (const name of ['server_version', 'fsync', 'synchronous_commit', 'wal_sync_method']) {
    const { rows } = await pool.query<Record<string, string>>(`SHOW ${name}`)
    settings.push(`${name} ${rows[0]![name]}`)
  }
  if (!settings.includes('fsync on') || !settings.includes('synchronous_commit on')) throw new Error(`PostgreSQL does not make writes durable: ${settings.join(', ')}`)
  const saver = new PostgresSaver(pool)
  await saver.setup()
  return { name: 'postgres', version: settings.join(', '), saver, close: () => pool.end() }
}

async function sqlite(): Promise<System> {
  const dir = mkdtempSync(join(tmpdir(), 'dormouse-bench-'))
  const db = new Database(join(dir, 'checkpoints.db'))
  db.pragma('journal_mode=WAL')
  db.pragma('synchronous=FULL')
  const settings = `${db.prepare('select sqlite_version()').pluck().get()}, ${db.pragma('journal_mode', { simple: true })}, synchronous ${db.pragma('synchronous', { simple: true })}`
  return {
    name: 'sqlite', version: settings, saver: new SqliteSaver(db),
    close: async () => {
      db.close()
      rmSync(dir, { recursive: true })
    },
  }
}

/** Starts what this process needs of each system. memory keeps nothing: it shows what LangGraph itself takes. */
export async function open(): Promise<System[]> {
  return [await dormouse(), await postgres(), await sqlite(), { name: 'memory', version: 'MemorySaver', saver: new MemorySaver(), close: async () => undefined }]
}
