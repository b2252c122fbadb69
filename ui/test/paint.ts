// Measures each page from a node of this machine, with an empty cache: how long until the browser paints
// the first content, and until the data of the page is there. It prints the median and the 95th
// percentile in ms, as a table of Markdown. Without arguments it measures all pages, with names those of
// some. DORMOUSE_PAINTS is the number of loads of each page.
import { launch, open } from './browser.js'
import { seed } from './seed.js'
import { shots, type Shot } from './shots.js'

const loads = Number(process.env['DORMOUSE_PAINTS'] ?? 20)
const only = process.argv.slice(2)
const targetMs = 300

/** Returns the value that a share of all values does not exceed. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1]!)
}

interface Measured {
  paint: number
  ready: number
}

const browser = await launch()

/** Loads a page once, in a context of its own. */
async function measure(shot: Shot): Promise<Measured> {
  const page = await open(browser, shot.path)
  await shot.ready(page)
  const measured = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]!.startTime,
    ready: performance.now(),
  }))
  await page.context().close()
  return measured
}

const agents = await seed()
console.log(`| page | first paint, median | p95 | data, median | p95 |\n|---|---|---|---|---|`)
let slow = 0
for (const shot of shots(agents)) {
  if (only.length > 0 && !only.includes(shot.name)) continue
  await measure(shot) // the node and the browser are warm from then on; the cache of the page is not
  const all: Measured[] = []
  for (let i = 0; i < loads; i++) all.push(await measure(shot))
  const paints = all.map((m) => m.paint)
  const readies = all.map((m) => m.ready)
  if (quantile(paints, 0.95) > targetMs) slow++
  console.log(`| ${shot.name} | ${quantile(paints, 0.5)} | ${quantile(paints, 0.95)} | ${quantile(readies, 0.5)} | ${quantile(readies, 0.95)} |`)
}
await browser.close()
console.log(`\n${slow === 0 ? 'Each page paints' : `${slow} pages do not paint`} within ${targetMs} ms in 95 of 100 loads.`)
