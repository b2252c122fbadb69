import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './modules.js'

interface Tokens {
  use: string | undefined
  offered: string | undefined
}
const { decide } = await load<{ decide(found: string | undefined, kept: string | undefined): Tokens }>('src/api/offered.ts')

test('a token in the address does not replace another one that the tab keeps', () => {
  for (const [found, kept, use, offered] of [
    [undefined, undefined, undefined, undefined],
    ['a', undefined, 'a', undefined], // dormctl ui opens a tab of its own
    [undefined, 'k', 'k', undefined],
    ['k', 'k', 'k', undefined],
    ['a', 'k', 'k', 'a'],
    ['', 'k', 'k', undefined],
  ] as const) {
    assert.deepEqual(decide(found, kept), { use, offered }, `${found} in the address, and ${kept} in the tab`)
  }
})
