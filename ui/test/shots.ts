import type { Page } from 'playwright-core'

/** A view of the console. */
export interface Shot {
  name: string
  path: string
  /** Waits until the view is complete. */
  ready: (page: Page) => Promise<unknown>
}

/** The views that are tested with axe, and of which pictures are taken. */
export function shots(agents: readonly string[]): Shot[] {
  const agent = encodeURIComponent(agents[2] ?? agents[0]!)
  return [
    { name: 'overview', path: '', ready: async (p) => {
      await p.getByRole('table', { name: 'Nodes' }).waitFor()
      await p.locator('.uplot').nth(2).waitFor()
      await p.getByText('Needs a person').waitFor()
    } },
    { name: 'agents', path: 'agents', ready: (p) => p.getByRole('table', { name: 'Agents' }).waitFor() },
    { name: 'agent', path: `agent?id=${agent}&seq=6`, ready: async (p) => {
      await p.getByRole('button', { name: /search_orders/ }).first().waitFor()
      await p.getByRole('heading', { name: 'Entry 6' }).waitFor()
      await p.getByRole('heading', { name: 'Memories' }).waitFor()
    } },
    { name: 'placement', path: 'placement?manager=chats&key=room-1', ready: async (p) => {
      await p.getByRole('img', { name: /4,096 partitions by owner/ }).waitFor()
      await p.getByText('Candidates, best first').waitFor()
    } },
    { name: 'sessions', path: 'sessions', ready: (p) => p.getByRole('table', { name: 'Sessions' }).waitFor() },
    { name: 'session', path: 'session?id=s-002', ready: async (p) => {
      await p.getByText('s-002-r1').first().waitFor()
      await p.getByRole('heading', { name: 'Waits for' }).waitFor()
    } },
    { name: 'thread', path: 'thread?id=s-002&seq=2', ready: (p) => p.getByRole('heading', { name: 'Entry 2' }).waitFor() },
    { name: 'instances', path: 'instances?manager=chats', ready: async (p) => {
      await p.getByRole('table', { name: 'Awake instances' }).waitFor()
      await p.getByRole('heading', { name: 'Manager chats' }).waitFor()
    } },
    { name: 'instance', path: 'instance?manager=chats&key=room-2', ready: async (p) => {
      await p.getByRole('heading', { name: 'State', exact: true }).waitFor()
      await p.getByRole('button', { name: 'Send' }).waitFor()
    } },
    { name: 'pods', path: 'pods?manager=teams', ready: (p) => p.getByRole('link', { name: 'refund-81-2204' }).waitFor() },
    { name: 'pod', path: 'pod?manager=teams&key=refund-81-2204&node=reader', ready: async (p) => {
      await p.getByRole('button', { name: /^lead,/ }).waitFor()
      await p.getByRole('heading', { name: 'reader' }).waitFor()
    } },
    { name: 'memory', path: `memory?agent=${agent}&mode=text&query=customer+refunds+email`, ready: (p) => p.getByText('by words').first().waitFor() },
    { name: 'memories', path: 'memory', ready: (p) => p.getByRole('button', { name: 'Delete' }).first().waitFor() },
    { name: 'timers', path: 'timers?in=chats&key=room-1&timer=digest', ready: async (p) => {
      await p.getByRole('table', { name: 'Timers' }).waitFor()
      await p.getByText('At 07:00, Monday through Friday').first().waitFor()
      await p.getByText('Next five').waitFor()
    } },
    { name: 'reviews', path: 'reviews', ready: (p) => p.getByRole('button', { name: 'Approve' }).waitFor() },
    { name: 'conversations', path: 'conversations', ready: (p) => p.getByRole('table', { name: 'Conversations' }).waitFor() },
    { name: 'conversation', path: 'conversation?id=chat-1', ready: (p) => p.getByText('Is the refund on its way?').waitFor() },
    { name: 'files', path: 'files?path=/reports/2026/sales.png', ready: async (p) => {
      await p.getByRole('button', { name: /october.md/ }).waitFor()
      await p.waitForFunction(() => document.querySelector<HTMLImageElement>('.shown-image')?.naturalWidth === 640)
    } },
    { name: 'changes', path: 'changes?from=1', ready: async (p) => {
      await p.getByRole('list', { name: 'Changes' }).waitFor()
      await p.locator('.change').first().waitFor()
    } },
    { name: 'cluster-members', path: 'cluster', ready: (p) => p.getByText(/member joined/).first().waitFor() },
    { name: 'cluster-settings', path: 'cluster?tab=settings', ready: (p) => p.getByRole('rowheader', { name: 'http.addr', exact: true }).waitFor() },
    { name: 'cluster-backups', path: 'cluster?tab=backups', ready: (p) => p.getByRole('table', { name: 'Backups' }).waitFor() },
    { name: 'cluster-audit', path: 'cluster?tab=audit', ready: (p) => p.getByRole('table', { name: 'Audit log' }).waitFor() },
    { name: 'cluster-tokens', path: 'cluster?tab=tokens', ready: (p) => p.getByRole('table', { name: 'Tokens' }).waitFor() },
    { name: 'cluster-quotas', path: 'cluster?tab=quotas', ready: async (p) => {
      await p.getByRole('table', { name: 'Scopes' }).waitFor()
      await p.getByRole('meter', { name: 'Agents', exact: true }).waitFor()
    } },
    { name: 'cluster-slow', path: 'cluster?tab=slow', ready: (p) => p.getByRole('table', { name: 'Slow calls' }).waitFor() },
  ]
}
