// Usage: main.js work [--slow CALL] | review [--slow CALL] | check
import { parseArgs } from 'node:util'
import { Client } from '@dormouse/client'
import { Command } from '@langchain/langgraph'
import { build, type Question } from './agent.js'
import { check } from './check.js'
import type { Done } from './ledger.js'
import { approvedMax, tickets } from './tickets.js'

/** How long a claim outlives its process, in ms. */
const claimMs = 3000

const { values: { slow }, positionals: [verb] } = parseArgs({ allowPositionals: true, options: { slow: { type: 'string' } } })
const say = (text: string): void => console.log(`  [${process.pid}] ${text}`)

/** Tells what was done; at the call that was asked for, long before its answer is stored. */
async function done(each: Done, again: boolean): Promise<void> {
  say(again ? `${each.call} ${each.tool}: is in the ledger already, and is not done again` : `${each.call} ${each.tool}: ${each.result}`)
  if (each.call !== slow) return
  say(`… ${each.call} is done, but its answer is slow`)
  await new Promise((resolve) => setTimeout(resolve, 60_000))
}

const client = new Client({ endpoints: (process.env.DORMOUSE_URLS ?? 'http://127.0.0.1:7600').split(','), token: process.env.DORMOUSE_TOKEN })
const place = (ticket: string) => ({ configurable: { thread_id: ticket }, durability: 'sync' as const })

/** Works on each ticket until it is closed or waits for a review. */
async function work(graph: ReturnType<typeof build>): Promise<void> {
  for (const ticket of tickets) {
    const { tasks, next, values } = await graph.getState(place(ticket.id))
    const begun = 'messages' in values && values.messages.length > 0
    if (begun && next.length === 0) continue
    if (!tasks.some((task) => task.interrupts.length > 0)) {
      say(begun ? `${ticket.id}: goes on with ${values.messages.length} messages` : `${ticket.id}: ${ticket.text}`)
      await graph.invoke(begun ? null : { messages: [{ role: 'user', content: `[${ticket.id}] ${ticket.text}` }] }, place(ticket.id))
    }
    for (const { interrupts } of (await graph.getState(place(ticket.id))).tasks) {
      for (const { value } of interrupts) say(`${ticket.id}: waits for a review of ${JSON.stringify(value)}`)
    }
  }
}

/** Answers each question that waits, as a person would, and lets its ticket go on. */
async function review(graph: ReturnType<typeof build>): Promise<void> {
  for (const { id } of tickets) {
    const { tasks, next } = await graph.getState(place(id))
    const question = tasks.flatMap((task) => task.interrupts)[0]?.value as Question | undefined
    if (question) {
      const approved = question.cents <= approvedMax
      say(`${id}: the reviewer ${approved ? 'approves' : 'denies'} ${question.cents} cents for order ${question.order}`)
      await graph.invoke(new Command({ resume: approved }), place(id))
    } else if (next.length > 0) {
      say(`${id}: goes on after its review`)
      await graph.invoke(null, place(id))
    }
  }
}

if (verb === 'check') await check(client, build(client, { done }))
else if (verb === 'work' || verb === 'review') {
  say('waits for the claim')
  const hold = await client.claims.hold('support/agent', `process ${process.pid}`, { ttlMs: claimMs, wait: true })
  const graph = build(client.fenced(hold.fence), { done })
  await (verb === 'work' ? work(graph) : review(graph))
  await hold.release()
} else {
  console.error('usage: main.js work|review|check [--slow CALL]')
  process.exitCode = 2
}
