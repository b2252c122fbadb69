import { RefusedError } from '../../../sdk/js/src/errors.js'
import { problemOf } from '../../../sdk/js/src/problems.js'
import { fromNode } from './named.js'
import { nodes, type Node } from './nodes.js'
import { token } from './session.js'

/** How long one node may take to answer. */
const answerMs = 4_000

/** What one node answered, or why it did not. */
export interface Told<T> {
  node: string
  data: T | undefined
  error: unknown
}

/** Asks one node, and no other, for what only it knows. */
export async function askNode<T>(node: Node, path: string, signal: AbortSignal): Promise<T> {
  const response = await fromNode(node.name, nodes.value.length, () => fetch(node.url + path, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]), credentials: 'omit',
    headers: token.value ? { Authorization: `Bearer ${token.value}` } : {},
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new Error(`Node ${node.name} does not answer this browser: ${error instanceof Error ? error.message : String(error)}`)
  }))
  if (!response.ok) throw new RefusedError(problemOf(response.status, await response.text()))
  return (await response.json()) as T
}

/** Asks the node with the name, or the one that answers if the name is empty. */
export async function askNamed<T>(name: string, path: string, signal: AbortSignal): Promise<T> {
  await known(signal)
  const node = name ? nodes.value.find((n) => n.name === name) : nodes.value[0]
  if (!node) throw new Error(`The cluster has no node ${name}, or it has no HTTP address. The nodes are ${nodes.value.map((n) => n.name).join(', ')}.`)
  return askNode<T>(node, path, signal)
}

/** Asks each node. A node that does not answer has an error instead of data. */
export async function askAll<T>(path: string, signal: AbortSignal): Promise<Told<T>[]> {
  await known(signal)
  return Promise.all(nodes.value.map(async (n) => {
    try {
      return { node: n.name, data: await askNode<T>(n, path, signal), error: undefined }
    } catch (error) {
      signal.throwIfAborted()
      return { node: n.name || new URL(n.url).host, data: undefined, error }
    }
  }))
}

/** Waits until the page knows the other nodes; a person who may not see them has one node. */
async function known(signal: AbortSignal): Promise<void> {
  for (let i = 0; i < 20 && !nodes.value[0]!.name; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    signal.throwIfAborted()
  }
}

