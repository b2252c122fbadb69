import type { ComponentType } from 'preact'
import type { Verb } from '../api/session.js'
import type { IconName } from '../app/icons.js'

/** A page of the console. */
export interface PageEntry {
  /** Its path below /ui/. */
  path: string
  title: string
  /** Its group in the menu; absent if the menu does not list it. */
  group?: (typeof groups)[number]
  icon?: IconName
  /** The key that opens it, after g. */
  jump?: string
  /** The menu offers it to persons with this verb. */
  needs?: Verb
  /** Pages that belong to this one: the menu marks it for them too. */
  below?: readonly string[]
  load: () => Promise<{ default: ComponentType }>
}

export const groups = ['cluster', 'agents', 'data'] as const

/** All pages. */
export const pages: readonly PageEntry[] = [
  { path: '', title: 'Overview', group: 'cluster', icon: 'overview', jump: 'o', load: () => import('./overview.js') },
  { path: 'placement', title: 'Placement', group: 'cluster', icon: 'placement', jump: 'p', needs: 'cluster:read', load: () => import('./placement.js') },
  { path: 'agents', title: 'Agents', group: 'agents', icon: 'agents', jump: 'a', needs: 'read', below: ['agent', 'thread'], load: () => import('./agents.js') },
  { path: 'agent', title: 'Agent', load: () => import('./agent.js') },
  { path: 'thread', title: 'Thread', load: () => import('./thread.js') },
  { path: 'sessions', title: 'Sessions', group: 'agents', icon: 'sessions', jump: 's', needs: 'read', below: ['session'], load: () => import('./sessions.js') },
  { path: 'session', title: 'Session', load: () => import('./session.js') },
  { path: 'instances', title: 'Instances', group: 'agents', icon: 'instances', jump: 'i', needs: 'read', below: ['instance'], load: () => import('./instances.js') },
  { path: 'instance', title: 'Instance', load: () => import('./instance.js') },
  { path: 'pods', title: 'Pods', group: 'agents', icon: 'pods', jump: 'd', needs: 'read', below: ['pod'], load: () => import('./pods.js') },
  { path: 'pod', title: 'Pod', load: () => import('./pod.js') },
  { path: 'memory', title: 'Memory', group: 'data', icon: 'memory', jump: 'm', needs: 'read', load: () => import('./memory.js') },
  { path: 'timers', title: 'Timers', group: 'data', icon: 'timers', jump: 't', needs: 'read', load: () => import('./timers.js') },
  { path: 'reviews', title: 'Reviews', group: 'agents', icon: 'reviews', jump: 'r', needs: 'read', load: () => import('./reviews.js') },
  { path: 'conversations', title: 'Conversations', group: 'data', icon: 'conversations', jump: 'c', needs: 'read', below: ['conversation'], load: () => import('./conversations.js') },
  { path: 'conversation', title: 'Conversation', load: () => import('./conversation.js') },
  { path: 'files', title: 'Files', group: 'data', icon: 'files', jump: 'f', needs: 'read', load: () => import('./files.js') },
  { path: 'changes', title: 'Changes', group: 'data', icon: 'changes', jump: 'h', needs: 'read', load: () => import('./changes.js') },
  { path: 'cluster', title: 'Cluster', group: 'cluster', icon: 'cluster', jump: 'l', load: () => import('./cluster.js') },
]
