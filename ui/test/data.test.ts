import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessible, close, control, launch, nodes, open, token } from './browser.js'
import { call, seed } from './seed.js'
import { put } from './seed_data.js'

const scope = 'shelf'
const at = `scope=${scope}`
let browser: Browser

before(async () => {
  await seed(scope)
  browser = await launch()
})
after(() => browser?.close())

/** Runs work that makes the browser download a file, and returns its name and bytes. */
async function downloaded(page: Page, work: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), work()])
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) }
}

test('empty pages say what to type', async () => {
  for (const [path, command] of [['conversations', 'dormctl commit'], ['files', 'dormctl files put'], ['changes', 'dormctl checkpoints put']] as const) {
    const page = await open(browser, `${path}?scope=nothing-here`)
    await page.locator('.state .command').getByText(command).waitFor()
    await accessible(page)
    await close(page)
  }
})

test('conversations are listed by their state, and one is shown as people see it, live', async () => {
  const page = await open(browser, `conversations?${at}`)
  await page.getByText('6 shown').waitFor()
  await page.getByRole('combobox', { name: 'Which' }).selectOption('interrupted')
  await page.getByText('2 shown').waitFor()
  await page.getByRole('combobox', { name: 'Which' }).selectOption('owner')
  await page.getByLabel('Id of the owner').fill('milan')
  await page.keyboard.press('Enter')
  await page.getByText('2 shown').waitFor()
  assert.match(page.url(), /list=owner&of=milan/)
  await page.getByRole('combobox', { name: 'Which' }).selectOption('all')
  await page.getByText('6 shown').waitFor()
  await call('POST', '/v1/conversations/chat-7/messages', { messages: [{ role: 'user', content: { text: 'A new one' } }] }, scope)
  await page.getByRole('button', { name: 'Show what changed' }).click()
  await page.getByText('7 shown').waitFor()
  await page.getByRole('link', { name: 'chat-7' }).waitFor()
  await close(page)

  const one = await open(browser, `conversation?id=chat-1&${at}`)
  const log = one.getByRole('log')
  await log.getByText('The refund, please.').waitFor()
  assert.deepEqual((await log.locator('.message header strong').allTextContents()), ['System', 'User', 'Agent', 'Agent', 'User', 'Agent', 'Pending'])
  await log.getByText('The agent is interrupted').waitFor()
  await log.getByText('Is the refund on its way?').waitFor()
  await log.getByText('search_orders').click()
  await log.getByRole('group', { name: 'Arguments' }).first().getByText('81-2204').waitFor()
  // A message comes, and a tool call changes, without a reload.
  await call('POST', '/v1/conversations/chat-1/messages', { agent_id: 'support/a-refund-for-order-81-2204', messages: [{ role: 'assistant', content: { text: 'It is <b>done</b>.' } }] }, scope)
  await log.getByText('It is <b>done</b>.').waitFor()
  await call('PATCH', '/v1/conversations/chat-1/messages/call:call_2', { status: 'completed' }, scope)
  await log.getByRole('article', { name: 'Agent, message 6' }).getByText('completed').waitFor()
  const { name, bytes } = await downloaded(one, () => one.getByRole('button', { name: 'Download' }).click())
  assert.equal(name, 'chat-1.json')
  const whole = JSON.parse(bytes.toString()) as { conversation: { id: string; interrupted: boolean }; messages: unknown[] }
  assert.deepEqual([whole.conversation.id, whole.conversation.interrupted, whole.messages.length], ['chat-1', true, 8])
  await close(one)
})

test('an answer that comes while a person types does not erase the text', async () => {
  for (const [path, list, label] of [['conversations', 'owner', 'Id of the owner'], ['reviews', 'approved', 'Assignee']] as const) {
    const page = await open(browser, `${path}?${at}`)
    const field = page.getByLabel(label)
    let answer = (): void => undefined
    const typed = new Promise<void>((resolve) => { answer = resolve })
    let came = Promise.resolve()
    await page.route((url) => url.pathname === `/v1/${path}`, (route) => came = typed.then(() => route.continue()))
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === `/v1/${path}`)
    await page.getByRole('combobox').and(page.locator('.filters select')).selectOption(list)
    await field.fill('milan')
    answer()
    await Promise.all([came, answered])
    await page.locator('.state, .table-foot').getByText(/ shown|No /).first().waitFor() // the answer is drawn
    assert.equal(await field.inputValue(), 'milan', path)
    await field.press('Enter')
    await page.waitForURL(/=milan/)
    assert.equal(await field.inputValue(), 'milan', path)
    await close(page)
  }
})

test('a long conversation begins at its end, and older messages come on demand', async () => {
  const messages = Array.from({ length: 250 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: { text: `line ${i}` } }))
  for (let i = 0; i < messages.length; i += 50) await call('POST', '/v1/conversations/long/messages', { messages: messages.slice(i, i + 50) }, scope)
  const page = await open(browser, `conversation?id=long&${at}`)
  await page.getByText('line 249').waitFor()
  assert.equal(await page.locator('.message').count(), 100)
  await page.getByRole('button', { name: 'Show earlier messages' }).click()
  await page.getByText('line 60', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Show earlier messages' }).click()
  await page.getByText('line 0', { exact: true }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Show earlier messages' }).count(), 0)
  await close(page)
})

test('files are a tree; texts and images are shown, nothing in them runs, and they are downloaded', async () => {
  await Promise.all(Array.from({ length: 230 }, (_, i) => put(`/many/deep/f-${String(i).padStart(3, '0')}.txt`, 'text/plain', 'x', scope)))
  await put('/many/last.txt', 'text/plain', 'the last one', scope)
  const page = await open(browser, `files?${at}`)
  const tree = page.getByRole('region', { name: 'Tree' })
  await tree.getByRole('button', { name: /reports/ }).waitFor()
  assert.deepEqual((await tree.locator('.tree > .folder > li > button > :first-child').allTextContents()), ['exports/', 'logo.svg', 'many/', 'notes/', 'reports/'])
  // By the keyboard: down to a folder, right to open it.
  await tree.getByRole('button', { name: /exports/ }).focus()
  for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await tree.getByRole('button', { name: /last.txt/ }).click() // beyond a folder of more files than a page
  await page.getByRole('group', { name: 'Content' }).getByText('the last one').waitFor()
  assert.match(page.url(), /path=\/many\/last.txt/)
  await tree.getByRole('button', { name: /deep/ }).click()
  await tree.getByRole('button', { name: 'Show more' }).click()
  await tree.getByRole('button', { name: /f-229/ }).waitFor()
  // An image as an image: also one with a script in it, which does not run.
  await tree.getByRole('button', { name: /logo.svg/ }).click()
  await page.waitForFunction(() => document.querySelector<HTMLImageElement>('.shown-image')?.naturalWidth === 240)
  await tree.getByRole('button', { name: /notes/ }).click()
  await tree.getByRole('button', { name: /page.html/ }).click()
  await page.getByRole('group', { name: 'Content' }).getByText('<script>document.title = "ran"</script>').waitFor()
  assert.doesNotMatch(await page.title(), /ran/)
  await tree.getByRole('button', { name: /exports/ }).click()
  await tree.getByRole('button', { name: /orders.bin/ }).click()
  await page.getByText('The file is no text').waitFor()
  const { name, bytes } = await downloaded(page, () => page.getByRole('button', { name: 'Download' }).click())
  assert.equal(name, 'orders.bin')
  assert.deepEqual([...bytes], [0, 1, 2, 250, 0, 9])
  // Live: a file is written, and changed.
  await put('/exports/now.json', 'application/json', '{"fresh":1}', scope)
  await tree.getByRole('button', { name: /now.json/ }).click()
  await page.getByRole('group', { name: 'Content' }).getByText('fresh').waitFor()
  await put('/exports/now.json', 'application/json', '{"fresh":2,"more":true}', scope)
  await page.getByRole('group', { name: 'Content' }).getByText('more').waitFor()
  // A picture whose bytes are none, and a part of the tree.
  await put('/broken.png', 'image/png', 'no picture', scope)
  await tree.getByRole('button', { name: /broken.png/ }).click()
  await page.getByText('The bytes are no image/png').waitFor()
  await page.getByRole('searchbox').fill('/rep')
  await page.waitForFunction(() => document.querySelectorAll('.tree > .folder > li').length === 1)
  await tree.getByRole('button', { name: /2026/ }).waitFor({ state: 'attached', timeout: 500 }).catch(() => tree.getByRole('button', { name: /reports/ }).click())
  await tree.getByRole('button', { name: /2026/ }).waitFor()
  await close(page)
})

test('a feed that a node refuses to continue begins again', async () => {
  await put('/feeds/one.txt', 'text/plain', 'one', scope)
  const page = await open(browser, `files?under=/feeds/&${at}`)
  const tree = page.getByRole('region', { name: 'Tree' })
  await tree.getByRole('button', { name: /one.txt/ }).waitFor()
  const problem = { type: 'urn:dormouse:problem:compacted', title: 'Gone', status: 410, detail: 'a test', code: 'compacted', floor: 1 }
  await page.route('**/v1/changes*', (route) => route.fulfill({ status: 410, contentType: 'application/problem+json', json: problem }), { times: 1 })
  const refused = page.waitForResponse((r) => r.url().includes('/v1/changes') && r.status() === 410)
  await page.reload()
  await refused
  await tree.getByRole('button', { name: /one.txt/ }).waitFor()
  await put('/feeds/two.txt', 'text/plain', 'two', scope)
  await tree.getByRole('button', { name: /two.txt/ }).waitFor()
  await close(page)
})

test('changes come live, are held while the list is paused, and show what they wrote', async () => {
  const page = await open(browser, `changes?prefix=checkpoints/feed/&${at}`)
  await page.getByText('No recent change has a path that begins with checkpoints/feed/').waitFor()
  const write = (n: number): Promise<unknown> => call('PUT', '/v1/checkpoints/feed%2Fa', { state: { n, word: `word ${n}` } }, scope)
  await write(1)
  const list = page.getByRole('list', { name: 'Changes' })
  await list.getByText('checkpoints/feed/a@1').waitFor()
  await page.getByRole('button', { name: 'Live' }).click()
  await write(2)
  await write(3)
  await page.getByRole('button', { name: 'Go on: 2 new' }).waitFor()
  assert.equal(await page.locator('.change').count(), 1)
  await page.getByRole('button', { name: 'Go on: 2 new' }).click()
  await list.getByText('checkpoints/feed/a@3').waitFor()
  await list.getByText('checkpoints/feed/a@2').click()
  await page.getByRole('button', { name: 'Show what it wrote' }).click()
  await page.getByRole('group', { name: 'What it wrote' }).getByText('word 2', { exact: true }).waitFor()
  await accessible(page)
  await page.getByRole('link', { name: 'Open its page' }).click()
  await page.getByRole('heading', { name: 'feed/a' }).waitFor()
  await call('DELETE', '/v1/checkpoints/feed%2Fa', undefined, scope)
  await page.goto(`${nodes[0]!}/ui/changes?prefix=checkpoints/feed/&${at}`)
  await list.getByText('deleted').waitFor()
  assert.equal(await page.locator('.change').count(), 4)
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('reviews/')
  await list.getByText('reviews/review-s-012').first().waitFor()
  await list.getByText('denied').waitFor()
  await close(page)
})

test('the feed goes on with another node, and shows each change once', { skip: !control }, async () => {
  const leader = (await (await fetch(`${control}/leader`)).text()).trim()
  const address = (await call<{ members: { id: string; addresses: { http: string } }[] }>('GET', '/v1/cluster')).members.find((m) => leader.includes(m.id))!.addresses.http
  const page = await open(browser, `changes?prefix=threads/kept&${at}`, { node: `http://${address}` })
  await page.locator('.connection').getByText(/n\d, the leader/).waitFor()
  const append = async (n: number): Promise<void> => {
    for (let i = 0; i < n; i++) await call('POST', '/v1/threads/kept/entries', { entries: [{ kind: 'message', payload: { i } }] }, scope)
  }
  await append(5)
  await page.getByText('threads/kept@5', { exact: true }).waitFor()
  await fetch(`${control}/leader/kill`, { method: 'POST' })
  await append(20)
  await page.getByText('threads/kept@25', { exact: true }).waitFor({ timeout: 30_000 })
  const revs = (await page.locator('.change .clip:first-of-type .mono').allTextContents()).filter((t) => t.startsWith('@')).map((t) => Number(t.slice(1)))
  await page.getByText('25 changes').waitFor()
  assert.equal(new Set(revs).size, revs.length)
  await page.getByText(/does not answer/).waitFor({ state: 'detached', timeout: 30_000 })
  await close(page)
})

test('the page of changes says that its scope was deleted, and begins again', async () => {
  const write = (key: string): Promise<unknown> => call('PUT', `/v1/checkpoints/${key}`, { state: {} }, 'short-lived')
  await write('old')
  const page = await open(browser, 'changes?prefix=checkpoints/&scope=short-lived')
  const list = page.getByRole('list', { name: 'Changes' })
  await list.getByText('checkpoints/old@1').waitFor()
  await call('DELETE', '/v1/scopes/short-lived')
  await page.getByRole('alert').getByText('This scope was deleted').waitFor()
  assert.equal(await page.locator('.change').count(), 1)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('No recent change has a path that begins with checkpoints/').waitFor()
  await write('new')
  await list.getByText('checkpoints/new@1').waitFor()
  assert.equal(await page.locator('.change').count(), 1)
  await close(page)
})

test('a reader without a scope is told so', { skip: !token }, async () => {
  const made = await call<{ secret: string }>('POST', '/v1/tokens', { principal: 'elsewhere', grants: [{ verbs: ['read'], scopes: ['team-a'] }] })
  for (const path of ['conversations', 'conversation?id=chat-1', 'files', 'changes']) {
    const page = await open(browser, `${path}${path.includes('?') ? '&' : '?'}${at}`, { secret: made.secret })
    await page.getByRole('alert').getByText('You may not see this').first().waitFor()
    await close(page)
  }
})
