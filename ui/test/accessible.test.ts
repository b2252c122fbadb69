import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessible, close, launch, narrow, open, wide } from './browser.js'
import { seed } from './seed.js'
import { shots, type Shot } from './shots.js'

const scope = 'accessible'
let browser: Browser
let agents: string[]

before(async () => {
  agents = await seed(scope)
  browser = await launch()
})
after(() => browser?.close())

/** Opens a view once, and looks at it in both sizes and both themes. */
async function check(shot: Shot): Promise<void> {
  const page = await open(browser, `${shot.path}${shot.path.includes('?') ? '&' : '?'}scope=${scope}`)
  for (const viewport of [wide, narrow]) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.waitForFunction((theme) => (document.documentElement.dataset['theme'] === 'dark') === (theme === 'dark'), colorScheme)
      await shot.ready(page)
      await accessible(page, colorScheme === 'dark' ? 'colors' : undefined) // all else is the same in both themes
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.ok(overflow <= 0, `${shot.name} at ${viewport.width} pixels is ${overflow} pixels too wide`)
    }
  }
  await close(page)
}

test('each page is accessible, light and dark, wide and narrow', async () => {
  const left = shots(agents)
  const work = async (): Promise<void> => {
    for (let shot = left.shift(); shot; shot = left.shift()) await check(shot)
  }
  await Promise.all([work(), work()])
})
