import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { close, go, launch, open } from './browser.js'
import { call } from './seed.js'

const scope = 'threads'
const at = `scope=${scope}`
let browser: Browser

before(async () => {
  browser = await launch()
})
after(() => browser?.close())

/** Appends entries to a thread. */
const append = (thread: string, texts: readonly string[]): Promise<unknown> =>
  call('POST', `/v1/threads/${thread}/entries`, { entries: texts.map((content) => ({ kind: 'message', payload: { content } })) }, scope)

test('an entry of one thread is not shown as that of another', async () => {
  await append('one', ['first of one', 'second of one'])
  await append('two', ['first of two', 'second of two'])
  const page = await open(browser, `thread?id=one&seq=1&${at}`)
  await page.getByRole('heading', { name: 'Entry 1' }).waitFor()
  await go(page, `thread?id=two&${at}`)
  await page.getByRole('heading', { name: 'two', exact: true }).waitFor()
  await page.getByText('first of two').waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Entry 1' }).count(), 0)
  await close(page)
})

test('large entries appear although one answer of a node does not hold them all', async () => {
  const large = 'x'.repeat(1 << 20)
  for (let i = 0; i < 5; i++) await append('large', Array.from({ length: 5 }, (_, k) => `entry ${i * 5 + k} ${large}`)) // 25 MiB; an answer holds 16
  const page = await open(browser, `thread?id=large&${at}`)
  await page.getByText('25 entries').waitFor()
  for (const seq of [0, 24]) await page.getByRole('button', { name: new RegExp(`^${seq} `) }).getByText(`entry ${seq} x`).waitFor({ timeout: 30_000 })
  await close(page)
})
