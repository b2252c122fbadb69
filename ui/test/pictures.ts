// Takes a picture of each page: wide and narrow, light and dark. Without arguments it takes all, with
// names those of some. The pictures go to DORMOUSE_PICTURES.
import { mkdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch, narrow, open, wide } from './browser.js'
import { load, seed } from './seed.js'
import { shots } from './shots.js'

const out = process.env['DORMOUSE_PICTURES'] ?? 'build/pictures'
const only = process.argv.slice(2)
await mkdir(out, { recursive: true })
const agents = await seed()
const ended = new AbortController()
const working = load(ended.signal)
await sleep(Number(process.env['DORMOUSE_LOAD_MS'] ?? 35_000))
const browser = await launch()
for (const shot of shots(agents)) {
  if (only.length > 0 && !only.includes(shot.name)) continue
  for (const [size, viewport] of Object.entries({ wide, narrow })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(browser, shot.path, { viewport, colorScheme })
      await shot.ready(page)
      await sleep(400)
      await page.screenshot({ path: `${out}/${shot.name}-${size}-${colorScheme}.png` })
      await page.context().close()
    }
  }
}
await browser.close()
ended.abort()
await working
