import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import assert from 'node:assert/strict'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'

const urls = (process.env['DORMOUSE_URLS'] ?? '').split(',').filter(Boolean)
assert.ok(urls.length > 0, 'run the suite with go run ./internal/withcluster (make ui-test)')

/** The base URLs of the nodes. */
export const nodes: readonly string[] = urls
export const control = process.env['DORMOUSE_CONTROL'] ?? ''
/** A token that may do everything; empty if the cluster asks for none. */
export const token = process.env['DORMOUSE_TOKEN'] ?? ''

/** Returns the path of Chromium. */
function chromiumPath(): string {
  const named = process.env['CHROMIUM']
  for (const at of [...(named ? [named] : []), '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']) {
    try {
      accessSync(at, constants.X_OK)
      return at
    } catch {
      // The next one.
    }
  }
  throw new Error('Chromium is missing: install the package chromium, or set CHROMIUM to its path')
}

/** Starts a browser. */
export async function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'] })
}

export const wide = { width: 1440, height: 900 }
export const narrow = { width: 390, height: 844 }

const faults = new WeakMap<BrowserContext, string[]>()

/** Closes a page, and fails the test if the page had an error that it did not handle, or broke its policy. */
export async function close(page: Page): Promise<void> {
  const context = page.context()
  await page.unrouteAll({ behavior: 'wait' }) // an answer that a test changes must not come after the end of its page
  await context.close()
  assert.deepEqual(faults.get(context), [])
}

/** Opens a page of the console. */
export async function open(browser: Browser, path: string, options: BrowserContextOptions & { node?: string; secret?: string } = {}): Promise<Page> {
  const { node = nodes[0]!, secret = token, ...rest } = options
  const context = await browser.newContext({ viewport: wide, colorScheme: 'light', locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce', ...rest })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const found: string[] = []
  faults.set(context, found)
  page.on('pageerror', (error) => found.push(`the page ${path} failed: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Refused to/.test(message.text())) found.push(`the page ${path} breaks its policy: ${message.text()}`)
  })
  await page.goto(`${node}/ui/${path}${secret ? `#token=${secret}` : ''}`)
  return page
}

/** Opens another address of the console without loading the page again, as a link does. */
export async function go(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', new URL(to, document.baseURI))
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules of axe whose outcome depends on the theme. */
const rulesOfColors = ['color-contrast', 'link-in-text-block']

/** Fails if axe finds a violation of the rules for accessible pages, or only of those for colors. */
export async function accessible(page: Page, only?: 'colors'): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const found = await page.evaluate(async (rules) => {
    const run = (globalThis as unknown as { axe: { run: (options: unknown) => Promise<{ violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[] }> } }).axe
    return (await run.run({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) })).violations.map((v) => `${v.id}: ${v.help}\n  ${v.nodes.slice(0, 4).map((n) => `${n.html.slice(0, 240)}\n    ${n.failureSummary ?? ''}`).join('\n  ')}`)
  }, only && rulesOfColors)
  assert.deepEqual(found, [], `axe on ${page.url()}`)
}
