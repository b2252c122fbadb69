// Names that hold anything: markup, quotes, and more letters than fit a line.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessible, close, launch, narrow, nodes, open, wide } from './browser.js'
import { call } from './seed.js'

const scope = 'hostile'
const name = `<img src=x onerror="globalThis.broken=1">'$(id)/${'x'.repeat(300)}`
const at = `scope=${scope}&id=${encodeURIComponent(name)}`
let browser: Browser

before(async () => {
  await call('POST', `/v1/threads/${encodeURIComponent(name)}/entries`, { entries: [{ kind: `<b>${'k'.repeat(60)}`, payload: { [name]: name } }] }, scope)
  await call('PUT', `/v1/checkpoints/${encodeURIComponent(name)}`, { state: { [name]: name }, thread: { id: name, rev: 1 } }, scope)
  await call('PUT', `/v1/sessions/${encodeURIComponent(name)}`, { agent_id: name, metadata: { [name]: name } }, scope)
  browser = await launch()
})
after(() => browser?.close())

/** Fails if a name became markup, or if a title, a text or a command is cut off. */
async function whole(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const cut = [...document.querySelectorAll<HTMLElement>('h1, h2, .about, .state-title, .state p, .command')].filter((e) => {
      const box = e.getBoundingClientRect()
      const around = (e.closest('.card') ?? document.documentElement).getBoundingClientRect()
      return box.right > Math.min(innerWidth, around.right) + 1 || box.left < around.left - 1 || (e.className !== 'command' && e.scrollWidth > e.clientWidth + 1)
    })
    return { broken: 'broken' in globalThis, markup: document.querySelectorAll('img[src=x], b').length, cut: cut.map((e) => `${e.tagName} ${e.className}: ${e.textContent?.slice(0, 60)}`) }
  })
  assert.deepEqual(found, { broken: false, markup: 0, cut: [] })
}

test('a long name that looks like markup is shown whole, as it is', async () => {
  for (const viewport of [wide, narrow]) {
    for (const [path, heading] of [['agent', 'Checkpoint'], ['thread', 'Thread'], ['session', 'Turns']] as const) {
      const page = await open(browser, `${path}?${at}`, { viewport })
      await page.getByRole('heading', { name: heading }).first().waitFor()
      if (path !== 'session') await page.locator('.entry .badge').first().waitFor()
      await whole(page)
      await close(page)
    }
  }
})

test('a command names the scope of its page, and a shell reads its names back', async () => {
  const page = await open(browser, `session?${at}`)
  const command = `dormctl sessions claim '${name.replaceAll("'", `'\\''`)}' --owner worker-1 --request r1 --scope ${scope}`
  await page.locator('.command code').getByText(command, { exact: true }).waitFor()
  await close(page)
})

test('empty pages fit a phone', async () => {
  for (const path of ['agents', 'sessions', 'instances', 'pods', 'memory', 'timers', 'conversations', 'files', 'changes']) {
    const page = await open(browser, `${path}?scope=nothing-here`, { viewport: narrow })
    await page.locator('.state .command').waitFor()
    await whole(page)
    await close(page)
  }
})

test('a link with another token asks before it is used', async () => {
  const page = await open(browser, 'agents')
  const heading = page.getByRole('heading', { name: 'Agents' }).first()
  await heading.waitFor()
  const kept = () => page.evaluate(() => sessionStorage.getItem('dormouse.token'))
  const own = await kept()
  assert.ok(own)
  const follow = async (): Promise<void> => { // as a link from another site: it loads the page
    await page.goto('about:blank')
    await page.goto(`${nodes[0]}/ui/agents#token=dorm_other`)
    await page.getByRole('heading', { name: 'Use another token?' }).waitFor()
  }
  await follow()
  assert.equal(await kept(), own)
  assert.equal(new URL(page.url()).hash, '')
  await accessible(page)
  await page.getByRole('button', { name: 'Stay signed in' }).click()
  await heading.waitFor()
  assert.equal(await kept(), own)

  await follow()
  await page.getByRole('button', { name: 'Use the other token' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor() // the node does not know it
  await close(page)
})
