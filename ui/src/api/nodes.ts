import { computed, signal } from '@preact/signals'
import { root } from '../app/address.js'

/** A node that the page can call. */
export interface Node {
  /** Its name; empty until it has answered. */
  name: string
  url: string
}

/** What is wrong with the connection. */
export interface Trouble {
  /** The node that does not answer. */
  node: string
  /** The node that answers instead; undefined if none does. */
  using: string | undefined
  since: number
}

/** The node that served the page comes first. */
export const nodes = signal<readonly Node[]>([{ name: '', url: root }])
const at = signal(0)

/** The node that calls go to. */
export const current = computed(() => nodes.value[at.value] ?? nodes.value[0]!)
export const trouble = signal<Trouble | undefined>(undefined)

/** The base URL that stands for the current node in calls. */
export const anyNode = 'http://node'

/** The time in ms after which the page tries the node that served it again. */
const homewardMs = 5_000

/** Adds the members of the cluster, which the page can call if its own node stops. */
export function learn(members: readonly { id: string; host?: boolean; addresses: { http?: string } }[], home: string): void {
  const [first] = nodes.value
  const others = members
    .filter((m) => !m.host && m.id !== home && m.addresses.http)
    .map((m) => ({ name: m.id, url: `${location.protocol}//${m.addresses.http!}` }))
  const list = [{ url: first!.url, name: home }, ...others]
  if (JSON.stringify(list) === JSON.stringify(nodes.value)) return
  const { url } = current.value
  nodes.value = list
  at.value = Math.max(0, list.findIndex((n) => n.url === url))
}

const nameOf = (node: Node): string => node.name || new URL(node.url).host

/** Sends a call to the current node. If that does not answer, later calls go to the next one. */
export const fetchAnyNode: typeof fetch = async (input, init) => {
  const node = current.value
  try {
    const response = await fetch(node.url + String(input).slice(anyNode.length), { ...init, credentials: 'omit' })
    answered(node, response)
    return response
  } catch (error) {
    const reason: unknown = init?.signal?.reason
    const silent = reason instanceof DOMException && reason.name === 'TimeoutError'
    if (!init?.signal?.aborted || silent) failed(node)
    throw error
  }
}

function answered(node: Node, response: Response): void {
  const name = response.headers.get('dormouse-node')
  if (name && node.name !== name) nodes.value = nodes.value.map((n) => (n.url === node.url ? { ...n, name } : n))
  if (!trouble.value || current.value.url !== node.url) return
  trouble.value = at.value === 0 ? undefined : { ...trouble.value, using: name ?? nameOf(node) }
}

function failed(node: Node): void {
  if (current.value.url !== node.url) return // another call has moved on already
  const first = nodes.value[0]!
  trouble.value ??= { node: nameOf(first), using: undefined, since: Date.now() }
  if (trouble.value.using) trouble.value = { ...trouble.value, using: undefined }
  at.value = (at.value + 1) % nodes.value.length
  if (!returning) returning = setInterval(goHome, homewardMs)
}

let returning: ReturnType<typeof setInterval> | undefined

/** Goes back to the node that served the page once it answers again. */
async function goHome(): Promise<void> {
  const first = nodes.value[0]!
  try {
    const response = await fetch(`${first.url}/readyz`, { signal: AbortSignal.timeout(homewardMs / 2), credentials: 'omit' })
    if (!response.ok) return
  } catch {
    return
  }
  clearInterval(returning)
  returning = undefined
  at.value = 0
  trouble.value = undefined
}
