import { signal } from '@preact/signals'
import { api, type Schemas } from '../api/client.js'
import { learn, nodes } from '../api/nodes.js'
import { may } from '../api/session.js'
import { useWork } from '../api/use.js'

/** The status of the cluster as a node last told it; undefined if the person may not see it. */
export const cluster = signal<Schemas['ClusterStatus'] | undefined>(undefined)
/** Why the status is not known. */
export const clusterError = signal<unknown>(undefined)

const everyMs = 3_000

/** Reads the status of the cluster, from which the page also learns the addresses of the nodes. */
export async function readCluster(signal?: AbortSignal): Promise<void> {
  try {
    const status = await api.get('/v1/cluster', { timeoutMs: 10_000, ...(signal ? { signal } : {}) })
    cluster.value = status
    clusterError.value = undefined
    const home = nodes.value[0]!.name || status.node
    learn(status.members, home)
  } catch (error) {
    clusterError.value = error
  }
}

/** Keeps the status of the cluster current while the page is visible. */
export function useCluster(): void {
  useWork(async (signal) => {
    while (may('cluster:read') && !signal.aborted) {
      if (document.visibilityState !== 'hidden') await readCluster(signal)
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }, [may('cluster:read')])
}

/** How healthy the cluster is. */
export interface Health {
  tone: 'good' | 'warn' | 'bad'
  sentence: string
  /** What to do, or why; empty if there is nothing to say. */
  detail: string
}

/** Returns the health of the cluster in one sentence. */
export function healthOf(status: Schemas['ClusterStatus']): Health {
  const voters = status.members.filter((m) => m.voter)
  const silent = status.members.filter((m) => m.status !== 'alive' && m.status !== 'left')
  const alive = voters.filter((m) => m.status === 'alive').length
  const spare = alive - (Math.floor(voters.length / 2) + 1)
  const names = silent.map((m) => m.id).join(', ')
  if (!status.leader || spare < 0) {
    const why = names ? `${names} ${silent.length === 1 ? 'does' : 'do'} not answer.` : ''
    return { tone: 'bad', sentence: 'No leader: writes wait', detail: `${why} ${alive} of ${voters.length} voters answer. Start the others, or see docs/lost-majority.md.`.trim() }
  }
  const may = spare === 0 ? 'may lose no node' : `may lose ${spare} node${spare === 1 ? '' : 's'}`
  if (silent.length > 0) return { tone: spare > 0 ? 'warn' : 'bad', sentence: `Degraded: ${may}`, detail: `${names} ${silent.length === 1 ? 'does' : 'do'} not answer.` }
  if (voters.length === 1) return { tone: 'warn', sentence: 'Running on one node: may lose no node', detail: 'Add two nodes, so that the loss of one stops nothing.' }
  return { tone: 'good', sentence: `Healthy: ${may}`, detail: '' }
}
