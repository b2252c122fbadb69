import type { Change } from '../../api/data.js'
import { href } from '../../app/address.js'

/** Returns the address of the page that shows what changed; undefined if no page does. */
export function linkOf(c: Change): string | undefined {
  switch (c.kind) {
    case 'checkpoints': return href('agent', { id: c.key })
    case 'threads': return href('thread', { id: c.key })
    case 'memory': return href('agent', { id: c.agent })
    case 'sessions': return href('session', { id: c.key })
    case 'reviews': return href('reviews', { id: c.key })
    case 'conversations': return href('conversation', { id: c.key })
    case 'messages': return href('conversation', { id: c.conversation })
    case 'timers': return href('agent', { id: `instances/${c.manager}/${c.instance}` })
    case 'scopes': return href('cluster', { tab: 'quotas' })
    case 'values': return c.key.startsWith('file:') ? href('files', { path: c.key.slice('file:'.length) }) : undefined
    default: return undefined
  }
}
