import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessible, close, control, launch, nodes, open, token } from './browser.js'
import { call, seed } from './seed.js'

let browser: Browser
let agents: string[]

before(async () => {
  agents = await seed()
  browser = await launch()
})
after(() => browser?.close())

test('a person signs in with a token, and a wrong one is refused with a reason', { skip: !token }, async () => {
  const page = await open(browser, 'agents', { secret: '' })
  const field = page.getByLabel('Token')
  await field.waitFor()
  await accessible(page)
  await field.fill('dmt_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('The node refused the token').waitFor()
  await field.fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  await page.reload()
  await page.getByRole('table', { name: 'Agents' }).waitFor() // this tab keeps the token
  await page.getByRole('button', { name: 'Sign out' }).click()
  await field.waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.length), 0)
  await close(page)
})

test('the token in the fragment leaves the address', { skip: !token }, async () => {
  const page = await open(browser, 'agents?prefix=ops')
  await page.getByRole('link', { name: /^ops\// }).first().waitFor()
  assert.equal(new URL(page.url()).hash, '')
  assert.equal(new URL(page.url()).search, '?prefix=ops')
  await close(page)
})

test('a page has its frame before the node answers, and loads its scripts at once', async () => {
  const page = await open(browser, 'agents')
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  assert.equal(await page.locator('#frame').isVisible(), false)
  // No script was found only after another one had come: the page names them all.
  const scripts = await page.evaluate(() => performance.getEntriesByType('resource').map((e) => e.name).filter((n) => n.endsWith('.js')))
  const named = await page.evaluate(() => [...document.querySelectorAll<HTMLLinkElement | HTMLScriptElement>('link[rel=modulepreload], script[src]')].map((e) => ('href' in e ? e.href : e.src)))
  assert.deepEqual(scripts.sort(), named.sort())
  let answer = (): void => undefined
  const asked = new Promise<void>((resolve) => (answer = resolve))
  await page.route('**/v1/whoami', async (route) => {
    await asked
    await route.continue()
  })
  await page.reload()
  await page.locator('#frame').getByText('Waiting for the node…').waitFor()
  answer()
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  assert.equal(await page.locator('#frame').isVisible(), false)
  await close(page)
})

test('keys lead through the pages', async () => {
  const page = await open(browser, '')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'MAIN')
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('billing/')
  await page.waitForURL(/prefix=billing/)
  await page.getByText('3 shown').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await accessible(page)
  await page.keyboard.press('Escape')
  await page.goBack()
  await page.waitForFunction(() => !location.search.includes('prefix') || document.title.startsWith('Overview'))
  await close(page)
})

test('the skip link shows only while it has the focus', async () => {
  const page = await open(browser, '')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const skip = page.getByRole('link', { name: 'Skip to the content' })
  const width = async (): Promise<number> => (await skip.boundingBox())?.width ?? 0
  assert.ok((await width()) <= 1)
  await page.keyboard.press('Tab')
  assert.ok((await width()) > 50)
  // The nodes say how much room they have, and when they last answered.
  const table = page.getByRole('table', { name: 'Nodes' })
  await table.getByText(/GiB|MiB|TiB/).nth(2).waitFor()
  assert.equal(await table.getByText(/ago|now/).count(), 3)
  await close(page)
})

test('an address opens what it names, in its scope', async () => {
  await call('PUT', '/v1/checkpoints/only%2Fhere', { state: { a: { b: 1 } } }, 'team-a')
  const page = await open(browser, 'agent?id=only/here&scope=team-a')
  await page.getByRole('heading', { name: 'only/here' }).waitFor()
  assert.equal(await page.getByLabel('Scope').inputValue(), 'team-a')
  await page.getByText('This agent has no thread').waitFor()
  assert.equal(await page.getByText('dormctl threads append').count(), 1)
  const elsewhere = await open(browser, 'agent?id=only/here')
  await elsewhere.getByText('Not found').waitFor()
  await elsewhere.getByText('no_such').count()
  await close(page)
  await close(elsewhere)
})

test('a page is served behind a proxy under a path', async () => {
  const { createServer, request } = await import('node:http')
  const proxy = createServer((from, to) => {
    const target = new URL(nodes[0]!)
    if (!from.url!.startsWith('/tools/dormouse/')) {
      to.writeHead(404).end()
      return
    }
    const onward = request({ host: target.hostname, port: target.port, method: from.method, path: from.url!.slice('/tools/dormouse'.length), headers: { ...from.headers, host: target.host } }, (answer) => {
      to.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(to)
    })
    from.pipe(onward)
    to.on('close', () => onward.destroy())
    onward.on('error', () => to.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as { port: number }
  const page = await open(browser, '', { node: `http://127.0.0.1:${port}/tools/dormouse` })
  await page.getByRole('table', { name: 'Nodes' }).waitFor()
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('link', { name: 'billing/unpaid-invoices-of-october', exact: true }).click()
  await page.getByRole('button', { name: /search_orders/ }).first().waitFor()
  assert.match(page.url(), new RegExp(`^http://127.0.0.1:${port}/tools/dormouse/ui/agent\\?`))
  await page.reload()
  await page.getByRole('button', { name: /search_orders/ }).first().waitFor()
  await close(page)
  proxy.closeAllConnections()
  await new Promise((resolve) => proxy.close(resolve))
})

test('a reader is not offered what they may not do', { skip: !token }, async () => {
  const made = await call<{ secret: string }>('POST', '/v1/tokens', { principal: 'reader', grants: [{ verbs: ['read'], scopes: ['default'] }] })
  const page = await open(browser, '', { secret: made.secret })
  await page.getByText('Your token does not include cluster:read').waitFor()
  assert.equal(await page.getByRole('table', { name: 'Nodes' }).count(), 0)
  await accessible(page)
  await page.getByRole('link', { name: 'Agents' }).click()
  await page.getByRole('link', { name: 'billing/unpaid-invoices-of-october', exact: true }).click()
  await page.getByRole('button', { name: 'Verify' }).waitFor()
  assert.equal(await page.getByRole('button', { name: /Fork|Erase/ }).count(), 0)
  const outside = await open(browser, 'agents?scope=team-a', { secret: made.secret })
  await outside.getByText(/lacks the verb read|do not have|may not/i).first().waitFor()
  await close(page)
  await close(outside)
})

test('a running page says that its node is gone, goes on with another, and comes back', { skip: !control }, async () => {
  const leader = (await (await fetch(`${control}/leader`)).text()).trim()
  const address = (await call<{ members: { id: string; addresses: { http: string } }[] }>('GET', '/v1/cluster')).members.find((m) => leader.includes(m.id))!.addresses.http
  const page = await open(browser, `agent?id=${encodeURIComponent(agents[1]!)}`, { node: `http://${address}` })
  await page.getByRole('button', { name: 'Live' }).waitFor()
  await page.locator('.connection').getByText(/n\d, the leader/).waitFor() // the page knows the members now
  const thread = encodeURIComponent(agents[1]!)
  const texts = Array.from({ length: 30 }, (_, i) => `live line ${i}`)
  const append = async (from: number, to: number): Promise<void> => {
    for (const content of texts.slice(from, to)) await call('POST', `/v1/threads/${thread}/entries`, { entries: [{ kind: 'message', payload: { role: 'user', content } }] })
  }
  await append(0, 5)
  await page.getByText('live line 4').waitFor()
  await fetch(`${control}/leader/kill`, { method: 'POST' })
  await append(5, 30)
  await page.getByText(/does not answer/).waitFor({ timeout: 8_000 })
  await page.getByText('live line 29', { exact: true }).waitFor({ timeout: 20_000 })
  // Each entry is there once.
  const seqs = await page.locator('.entry .seq').allTextContents()
  assert.equal(new Set(seqs).size, seqs.length)
  for (const text of texts.slice(20)) assert.equal(await page.locator('.entry').getByText(text, { exact: true }).count(), 1, text)
  await page.getByText(/does not answer/).waitFor({ state: 'detached', timeout: 30_000 })
  await close(page)
})

test('the policy of the page allows nothing else', async () => {
  const response = await fetch(`${nodes[0]!}/ui/`)
  assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/)
  const page = await open(browser, 'agents')
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  assert.equal(await page.evaluate(() => fetch('http://127.0.0.1:1/x').then(() => 'sent', () => 'refused')), 'refused')
  assert.equal(await page.evaluate(() => {
    const s = document.createElement('script')
    s.textContent = 'globalThis.ran = true'
    document.body.append(s)
    return (globalThis as { ran?: boolean }).ran ?? false
  }).catch(() => false), false)
  await page.context().close()
})
