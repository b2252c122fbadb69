/** A customer's request. */
export interface Ticket {
  id: string
  order: string
  text: string
}

/** The requests that the agent answers. */
export const tickets: readonly Ticket[] = [
  { id: 't1', order: 'A-17', text: 'My lamp arrived broken. I want my money back.' },
  { id: 't2', order: 'B-02', text: 'The desk is not what I ordered. Refund it, please.' },
  { id: 't3', order: 'C-91', text: 'The mug has a crack.' },
]

/** What the shop knows about an order. */
export const orders: Readonly<Record<string, { item: string; cents: number }>> = {
  'A-17': { item: 'lamp', cents: 3900 },
  'B-02': { item: 'desk', cents: 24_000 },
  'C-91': { item: 'mug', cents: 900 },
}

/** The reviewer approves a refund up to this amount. */
export const approvedMax = 5000

/** The tools that the agent calls for a ticket, in order. */
export const plan = ['look_up_order', 'read_policy', 'refund', 'reply'] as const

export type ToolName = (typeof plan)[number]
