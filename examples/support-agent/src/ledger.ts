import { RefusedError, type Client, type Entry } from '@dormouse/client'

/** The thread of what was done, the values of the calls that were done, and the value of what was paid. */
const thread = 'support/ledger'
const calls = 'support/done/'
const paid = 'support/paid'

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64')

/** What was done for a tool call. */
export interface Done {
  call: string
  tool: string
  result: string
  cents: number
}

/**
 * The effects of the agent. An effect is an entry of the ledger and the money that it pays, in one commit
 * with a value that its call may create once. So a call that runs again, since its process died before
 * the answer was stored, has no second effect.
 */
export class Ledger {
  private readonly client: Client

  constructor(client: Client) {
    this.client = client
  }

  /** Does what a call wants, once. It returns what was done, now or by an earlier process. */
  async once(done: Done): Promise<{ done: Done; again: boolean }> {
    const key = calls + done.call
    for (;;) {
      const { answers: [before, sum] } = await this.client.read([{ read: 'get_value', key }, { read: 'get_value', key: paid }])
      const decoded = (bytes: string): unknown => JSON.parse(Buffer.from(bytes, 'base64').toString())
      if (before.found) return { done: decoded(before.found.bytes) as Done, again: true }
      const cents = sum.found ? (decoded(sum.found.bytes) as number) : 0
      try {
        await this.client.commit([
          { op: 'put_value', key, bytes: encode(done), if_revision: 0 },
          { op: 'put_value', key: paid, bytes: encode(cents + done.cents), if_revision: sum.found?.revision ?? 0 },
          { op: 'append_thread', thread, entries: [{ kind: 'done', payload: { ...done } }] },
        ])
        return { done, again: false }
      } catch (error) {
        // Another call was done meanwhile.
        if (!(error instanceof RefusedError) || error.code !== 'revision_mismatch') throw error
      }
    }
  }

  /** Returns all that was done, in order, and what was paid. */
  async read(): Promise<{ done: Done[]; cents: number }> {
    const done: Done[] = []
    for (let from = 0; ;) {
      const page = await this.client.threads.entries(thread, { from })
      done.push(...page.items.map((entry: Entry) => entry.payload as unknown as Done))
      if (page.next === null) break
      from = page.next
    }
    const { bytes } = await this.client.values.get(paid)
    return { done, cents: JSON.parse(Buffer.from(bytes).toString()) as number }
  }
}
