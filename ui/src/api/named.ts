/**
 * Sends a request until the node with the name answers it, at most as often as tries says: behind a
 * balancer, any node may answer at one address. An empty name means any node.
 */
export async function fromNode(name: string, tries: number, send: () => Promise<Response>): Promise<Response> {
  for (let left = tries; ; left--) {
    const response = await send()
    const by = response.headers.get('dormouse-node')
    if (!name || !by || by === name) return response
    await response.body?.cancel()
    if (left <= 1) throw new Error(`Node ${name} was asked, and node ${by} answered: this address leads to several nodes. Open the console at the address of node ${name}.`)
  }
}
