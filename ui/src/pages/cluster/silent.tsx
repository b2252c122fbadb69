import { detailOf } from '../../api/client.js'
import type { Told } from '../../api/ask.js'

/** Says which nodes are missing in a list of all nodes, and why. */
export function Silent({ of }: { of: readonly Told<unknown>[] }) {
  return <>{of.filter((t) => t.error !== undefined).map((t) => <p key={t.node} class="note" role="status">Without {t.node}: {detailOf(t.error)}</p>)}</>
}
