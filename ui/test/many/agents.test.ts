// This test writes 1,000,000 agents, so it has a cluster of its own: make ui-test starts it. DORMOUSE_AGENTS is another
// power of ten, of at least 100,000.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { close, launch, open } from '../browser.js'
import { call } from '../seed.js'

const scope = 'many'
const all = Number(process.env['DORMOUSE_AGENTS'] ?? 1_000_000)
const inCommit = 1000
let browser: Browser

const nameOf = (n: number): string => `agent-${String(n).padStart(7, '0')}`

before(async () => {
  let next = 0
  const write = async (): Promise<void> => {
    while (next < all) {
      const from = next
      next += inCommit
      const ops = Array.from({ length: inCommit }, (_, i) => ({ op: 'put_checkpoint', key: nameOf(from + i), state: { n: from + i } }))
      await call('POST', '/v1/commits', { ops }, scope)
    }
  }
  await Promise.all([write(), write(), write(), write()])
  assert.equal((await call<{ agents: number }>('GET', `/v1/scopes/${scope}`)).agents, all)
  browser = await launch()
})
after(() => browser?.close())

/** Counts the elements of the document. */
const elements = (page: Page): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length)

/** Records the tasks that block the page for more than 50 ms, from now on. */
const recordTasks = (page: Page): Promise<void> => page.evaluate(() => {
  const kept = globalThis as unknown as { tasks: number[] }
  kept.tasks = []
  new PerformanceObserver((list) => kept.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' })
})
const tasks = (page: Page): Promise<number[]> => page.evaluate(() => (globalThis as unknown as { tasks: number[] }).tasks)

/** The agents in view. */
const inView = (page: Page): Promise<string[]> => page.locator('.paged-rows .row.drawn a.cover').allTextContents()

/** The most elements that the page may have: it draws some 40 rows. */
const elementsMax = 1_500
/** The longest task that is no stall; a slow machine takes a few hundred ms. */
const taskMaxMs = 1_000

test(`a scope of ${all.toLocaleString('en')} agents scrolls without a stall`, async () => {
  const page = await open(browser, `agents?scope=${scope}`)
  const list = page.getByRole('rowgroup', { name: 'Agents' })
  await page.getByRole('link', { name: nameOf(0), exact: true }).waitFor()
  const atFirst = await elements(page)
  await recordTasks(page)
  // Down, page after page: each end that comes into view loads what follows.
  const pages = 40
  for (let i = 1; i <= pages; i++) {
    await list.evaluate((el) => (el.scrollTop = el.scrollHeight))
    await page.waitForFunction((n) => Number(/^([\d,]+) shown/.exec(document.querySelector('.table-foot')?.textContent ?? '')?.[1]?.replaceAll(',', '')) >= n, 500 * (i + 1))
  }
  assert.ok((await inView(page)).some((name) => Number(name.slice(6)) >= 500 * pages), 'the last rows are not in view')
  // Each row once and in order, no gap: also after a jump back to the middle.
  await list.evaluate((el) => (el.scrollTop = el.scrollHeight / 2))
  await page.waitForFunction((near) => [...document.querySelectorAll('.paged-rows .row.drawn a.cover')].some((e) => Math.abs(Number(e.textContent!.slice(6)) - near) < 600), 250 * pages)
  const seen = (await inView(page)).map((name) => Number(name.slice(6)))
  assert.deepEqual(seen, seen.map((_, i) => seen[0]! + i))
  // While the list moves by itself, each frame is drawn in time.
  await list.evaluate(async (el) => {
    for (let i = 0; i < 120; i++) {
      el.scrollTop += i % 2 ? 1_800 : -600
      await new Promise(requestAnimationFrame)
    }
  })
  const grown = await elements(page)
  assert.ok(grown < elementsMax && grown < atFirst + 200, `the page has ${grown} elements, and had ${atFirst}`)
  const long = await tasks(page)
  assert.ok(Math.max(0, ...long) < taskMaxMs, `tasks took ${long.join(', ')} ms`)
  await close(page)
})

test(`any of ${all.toLocaleString('en')} agents is found by its prefix`, async () => {
  const page = await open(browser, `agents?scope=${scope}`)
  await page.getByRole('link', { name: nameOf(0), exact: true }).waitFor()
  await recordTasks(page)
  await page.keyboard.press('/')
  const first = all * 0.765
  const prefix = nameOf(first).slice(0, -2)
  await page.keyboard.type(prefix, { delay: 20 })
  await page.getByRole('link', { name: nameOf(first), exact: true }).waitFor()
  await page.getByText('100 shown', { exact: true }).waitFor()
  assert.ok(page.url().includes(`prefix=${prefix}`), page.url())
  // A prefix of a tenth of them begins with the first of these, and goes on.
  await page.getByRole('searchbox').fill(nameOf(all * 0.9).slice(0, 1 - String(all / 10).length))
  await page.getByRole('link', { name: nameOf(all * 0.9), exact: true }).waitFor()
  await page.getByText('500 shown, more below').waitFor()
  await page.getByRole('searchbox').fill('agent-1')
  await page.getByText('No agent\'s id begins with').waitFor()
  await page.getByRole('searchbox').fill(nameOf(all - 1))
  await page.getByRole('link', { name: nameOf(all - 1), exact: true }).click()
  await page.getByRole('heading', { name: nameOf(all - 1) }).waitFor()
  assert.ok((await elements(page)) < elementsMax)
  const long = await tasks(page)
  assert.ok(Math.max(0, ...long) < taskMaxMs, `tasks took ${long.join(', ')} ms`)
  await close(page)
})
