import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './modules.js'

const { fromNode } = await load<{ fromNode(name: string, tries: number, send: () => Promise<Response>): Promise<Response> }>('src/api/named.ts')

/** Answers as the nodes with these names do, one after the other; an empty name is a proxy. */
function answering(...names: string[]): { send: () => Promise<Response>; left: string[] } {
  const left = [...names]
  return {
    left,
    send: async () => {
      const name = left.shift()
      assert(name !== undefined, 'asked too often')
      return new Response('{}', { headers: name ? { 'Dormouse-Node': name } : {} })
    },
  }
}

test('an answer is that of the node that was asked', async () => {
  for (const [asked, answers, left] of [
    ['n1', ['n1', 'n2'], 1],
    ['n2', ['n1', 'n3', 'n2'], 0],
    ['', ['n3', 'n1'], 1], // the page knows no name yet
    ['n1', ['', 'n1'], 1], // a proxy answers by itself
  ] as const) {
    const nodes = answering(...answers)
    const response = await fromNode(asked, 3, nodes.send)
    const by = response.headers.get('dormouse-node')
    assert(!asked || !by || by === asked, `asked ${asked}, and ${by} answered`)
    assert.equal(nodes.left.length, left)
  }
})

test('the answer of another node is an error that names both', async () => {
  const nodes = answering('n1', 'n3', 'n1', 'n2')
  await assert.rejects(fromNode('n2', 3, nodes.send), /Node n2 was asked, and node n1 answered/)
  assert.deepEqual(nodes.left, ['n2'])
})
