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

/** Loads the pages, which are one file: they compress better together, and large libraries are files of their own. */
const page = (name: keyof typeof import('./all.js')) => async (): Promise<{ default: ComponentType }> => ({ default: (await import('./all.js'))[name] })

/** All pages. */
export const pages: readonly PageEntry[] = [
  { path: '', title: 'Overview', group: 'cluster', icon: 'overview', jump: 'o', load: page('Overview') },
  { path: 'placement', title: 'Placement', group: 'cluster', icon: 'placement', jump: 'p', needs: 'cluster:read', load: page('Placement') },
  { path: 'agents', title: 'Agents', group: 'agents', icon: 'agents', jump: 'a', needs: 'read', below: ['agent', 'thread'], load: page('Agents') },
  { path: 'agent', title: 'Agent', load: page('Agent') },
  { path: 'thread', title: 'Thread', load: page('Thread') },
  { path: 'sessions', title: 'Sessions', group: 'agents', icon: 'sessions', jump: 's', needs: 'read', below: ['session'], load: page('Sessions') },
  { path: 'session', title: 'Session', load: page('Session') },
  { path: 'instances', title: 'Instances', group: 'agents', icon: 'instances', jump: 'i', needs: 'read', below: ['instance'], load: page('Instances') },
  { path: 'instance', title: 'Instance', load: page('Instance') },
  { path: 'pods', title: 'Pods', group: 'agents', icon: 'pods', jump: 'd', needs: 'read', below: ['pod'], load: page('Pods') },
  { path: 'pod', title: 'Pod', load: page('Pod') },
  { path: 'memory', title: 'Memory', group: 'data', icon: 'memory', jump: 'm', needs: 'read', load: page('Memory') },
  { path: 'timers', title: 'Timers', group: 'data', icon: 'timers', jump: 't', needs: 'read', load: page('Timers') },
  { path: 'reviews', title: 'Reviews', group: 'agents', icon: 'reviews', jump: 'r', needs: 'read', load: page('Reviews') },
  { path: 'conversations', title: 'Conversations', group: 'data', icon: 'conversations', jump: 'c', needs: 'read', below: ['conversation'], load: page('Conversations') },
  { path: 'conversation', title: 'Conversation', load: page('Conversation') },
  { path: 'files', title: 'Files', group: 'data', icon: 'files', jump: 'f', needs: 'read', load: page('Files') },
  { path: 'changes', title: 'Changes', group: 'data', icon: 'changes', jump: 'h', needs: 'read', load: page('Changes') },
  { path: 'cluster', title: 'Cluster', group: 'cluster', icon: 'cluster', jump: 'l', load: page('Cluster') },
]
