import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { close, launch, nodes, open, token } from './browser.js'
import { call, seed } from './seed.js'

const scope = 'pages'
const at = `scope=${scope}`
let browser: Browser
let agents: string[]

before(async () => {
  agents = await seed(scope)
  browser = await launch()
})
after(() => browser?.close())

test('an agent is shown whole, at each revision, and verified', async () => {
  const id = agents[2]!
  const page = await open(browser, `agent?id=${id}&${at}`)
  await page.getByRole('button', { name: /issue_refund/ }).first().waitFor()
  await page.getByText('The customer of a broken grinder').waitFor()
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText(/Chain and pointer hold at rev \d+/).waitFor()
  // A filter by kind shows only that kind, the last first.
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('tool_result')
  await page.locator('.entry .badge').first().waitFor()
  assert.deepEqual([...new Set(await page.locator('.entry .badge').allTextContents())], ['tool result'])
  const seqs = (await page.locator('.entry .seq').allTextContents()).map(Number)
  assert.deepEqual(seqs, [...seqs].sort((a, b) => b - a))
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('')
  // Jumps: by seq, and by the time of an entry.
  await page.getByLabel('Go to a seq or a time').fill('5')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^5 / }).click()
  await page.getByRole('heading', { name: 'Entry 5' }).waitFor()
  assert.match(page.url(), /seq=5/)
  const entries = await call<{ items: { seq: number; at: number }[] }>('GET', `/v1/threads/${encodeURIComponent(id)}/entries?from=20&to=20`, undefined, scope)
  await page.getByLabel('Go to a seq or a time').fill(new Date(entries.items[0]!.at).toISOString())
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^20 / }).waitFor()
  await page.getByLabel('Go to a seq or a time').fill('soon')
  await page.keyboard.press('Enter')
  await page.getByText('Type a seq such as 120').waitFor()
  // The difference of two revisions.
  await page.getByRole('combobox', { name: 'Compared with' }).selectOption('1')
  await page.getByText('state.step').waitFor()
  await page.getByText('− 4', { exact: true }).waitFor()
  await page.getByText('+ 12', { exact: true }).waitFor()
  await close(page)
})

test('an agent is forked, and erased only after its id is typed', async () => {
  const id = agents[4]!
  const page = await open(browser, `agent?id=${id}&seq=6&${at}`)
  await page.getByRole('button', { name: 'Fork', exact: true }).click()
  await page.getByLabel('Id of the new agent').fill('forks/whole')
  await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click()
  await page.getByRole('heading', { name: 'forks/whole', exact: true }).waitFor()
  assert.equal((await call<{ key: string }>('GET', '/v1/checkpoints/forks%2Fwhole', undefined, scope)).key, 'forks/whole')
  // At an entry.
  const other = await open(browser, `agent?id=${id}&seq=6&${at}`)
  await other.getByRole('button', { name: 'Fork from here' }).click()
  await other.getByLabel('Id of the new thread').fill('forks/at-6')
  await other.getByRole('dialog').getByRole('button', { name: 'Fork from here' }).click()
  await other.getByRole('heading', { name: 'forks/at-6', exact: true }).waitFor()
  await other.getByRole('region', { name: 'Checkpoint' }).waitFor()
  assert.equal(await other.getByRole('heading', { name: 'Entry 6' }).count(), 0) // an entry is open only in its own thread
  assert.equal((await call<{ rev: number }>('GET', '/v1/threads/forks%2Fat-6', undefined, scope)).rev, 7)
  // A taken id is refused, with a reason.
  await page.getByRole('button', { name: 'Fork', exact: true }).click()
  await page.getByLabel('Id of the new agent').fill(id)
  await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click()
  await page.getByRole('alert').getByText('already_exists').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Erase' }).click()
  const erase = page.getByRole('dialog').getByRole('button', { name: 'Erase' })
  assert.ok(await erase.isDisabled())
  await page.getByLabel('Type forks/whole to confirm').fill('forks/whole')
  await erase.click()
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  const left = await call<{ items: { key: string }[] }>('GET', '/v1/checkpoints?prefix=forks/whole', undefined, scope)
  assert.deepEqual(left.items, [])
  await close(page)
  await close(other)
})

test('an instance is woken and hibernated from its agent', async () => {
  const page = await open(browser, `agent?id=instances/chats/room-4&${at}`)
  await page.getByRole('region', { name: 'Instance' }).getByText('awake').waitFor()
  await page.getByRole('button', { name: 'Hibernate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Hibernate' }).click()
  await page.getByRole('region', { name: 'Instance' }).getByText('dormant').waitFor()
  await page.getByRole('button', { name: 'Wake' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Wake' }).click()
  await page.getByRole('region', { name: 'Instance' }).getByText('awake').waitFor()
  await close(page)
})

test('the map of partitions names owners, and explains a key', async () => {
  const page = await open(browser, `placement?${at}`)
  const map = page.getByRole('img', { name: /4,096 partitions by owner: n1 [\d,]+, n2 [\d,]+, n3 [\d,]+/ })
  await map.waitFor()
  await map.hover({ position: { x: 5, y: 5 } })
  await page.getByText(/^Partition 0: n[123]/).waitFor()
  await page.getByRole('textbox', { name: 'Manager' }).fill('chats')
  await page.getByRole('textbox', { name: 'Key' }).fill('room-9')
  await page.getByRole('button', { name: 'Explain' }).click()
  const told = await call<{ partition: number; owner: string; events: { kind: string }[] }>('GET', '/v1/placement/chats/room-9', undefined, scope)
  await page.locator('.facts').getByText(String(told.partition), { exact: true }).waitFor()
  assert.ok(told.events.length > 0)
  assert.equal(await page.locator('.scores li').count(), 3)
  assert.match(page.url(), /manager=chats&key=room-9/)
  await close(page)
})

test('sessions are filtered, and one shows its turns', async () => {
  const page = await open(browser, `sessions?${at}`)
  await page.getByText('12 shown').waitFor()
  await page.getByRole('combobox', { name: 'Status' }).selectOption('running')
  await page.getByText('2 shown').waitFor()
  await page.getByRole('link', { name: 's-003' }).click()
  await page.getByRole('heading', { name: 's-003' }).waitFor()
  await page.getByText(/min left/).waitFor()
  await page.locator('.turn-input').getByText('Please look into it.').waitFor()
  await page.locator('.turn-list .badge').getByText('snapshot').first().waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByLabel('Reason').fill('a test')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).last().click()
  await page.getByRole('region', { name: 'Error' }).getByText('a test').waitFor()
  assert.equal((await call<{ status: string }>('GET', '/v1/sessions/s-003', undefined, scope)).status, 'cancelled')
  // A fork at a snapshot.
  await page.getByRole('region', { name: 'Snapshots' }).getByRole('button', { name: 'Fork' }).last().click()
  await page.getByLabel('Id of the new session').fill('s-003-again')
  await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click()
  await page.getByRole('heading', { name: 's-003-again' }).waitFor()
  await page.getByRole('link', { name: 's-003', exact: true }).waitFor()
  await close(page)
})

test('a session whose lease has expired is recovered', async () => {
  await call('PUT', '/v1/sessions/lost', { agent_id: agents[0] }, scope)
  await call('POST', '/v1/sessions/lost/claim', { owner_id: 'worker-9', ttl_ms: 1000, request: { id: 'r1', input: {} } }, scope)
  const page = await open(browser, `session?id=lost&${at}`)
  await page.getByRole('button', { name: 'Recover' }).click({ timeout: 15_000 })
  await page.getByLabel('Owner of the new lease').fill('worker-10')
  await page.getByRole('dialog').getByRole('button', { name: 'Recover' }).click()
  await page.getByRole('region', { name: 'Lease' }).getByText('worker-10').waitFor()
  await close(page)
})

test('a review is approved with edits, and a lost race is told', async () => {
  const first = await open(browser, `reviews?id=review-s-002&${at}`)
  const second = await open(browser, `reviews?id=review-s-002&${at}`)
  await first.getByLabel('amount').fill('199.9')
  await first.getByLabel('Note').fill('not more')
  await second.getByRole('button', { name: 'Deny' }).waitFor()
  await first.getByRole('button', { name: 'Approve with these edits' }).click()
  await first.getByText('Approved with other arguments').waitFor()
  await second.getByRole('button', { name: 'Deny' }).click()
  await second.getByText('Approved with other arguments').waitFor() // the card is the decided review, and the message stays
  await second.getByText(/was faster: the review review-s-002 is edited already/).waitFor()
  const review = await call<{ status: string; decided: { amount: number; order: string }; note: string }>('GET', '/v1/reviews/review-s-002', undefined, scope)
  assert.equal(review.status, 'edited')
  assert.deepEqual([review.decided.amount, review.decided.order, review.note], [199.9, '81-2204', 'not more'])
  await close(first)
  await close(second)
})

test('the first review of the inbox stays open after a lost race, and the next one comes on demand', async () => {
  const own = { agent_id: agents[0] }
  for (const n of [1, 2]) {
    await call('PUT', `/v1/sessions/race-${n}`, own, 'race')
    const { lease } = await call<{ lease: { lease_id: string } }>('POST', `/v1/sessions/race-${n}/claim`, { owner_id: 'w', ttl_ms: 60_000, request: { id: 'r', input: {} } }, 'race')
    const held = { owner_id: 'w', lease_id: lease.lease_id }
    await call('POST', `/v1/sessions/race-${n}/checkpoint`, { ...held, snapshot: { snapshot_id: `race-${n}`, cursor: { loop_index: 0, phase: 'before_effect' }, turn_state: {} } }, 'race')
    await call('POST', `/v1/sessions/race-${n}/commit`, { ...held, reviews: [{ id: `race-${n}`, operation: `operation ${n}`, arguments: {} }], session: { status: 'waiting' } }, 'race')
  }
  const page = await open(browser, 'reviews?scope=race')
  const card = (n: number) => page.getByRole('region', { name: `operation ${n}` })
  await page.locator('.inbox-row').nth(1).waitFor()
  await page.getByRole('button', { name: 'Deny' }).waitFor()
  const first = await card(1).count() ? 1 : 2
  // The page does not see the decision before the person presses the button.
  const pending = await call('GET', `/v1/reviews/race-${first}`, undefined, 'race')
  await page.route(`**/v1/reviews/race-${first}`, (route) => route.fulfill({ json: pending }))
  await call('POST', `/v1/reviews/race-${first}/decide`, { by: 'ada', decision: 'approve' }, 'race')
  await card(first).getByRole('button', { name: 'Deny' }).click()
  const told = page.getByRole('alert').getByText(new RegExp(`was faster: the review race-${first} is approved already`))
  await told.waitFor()
  await page.unroute(`**/v1/reviews/race-${first}`)
  await page.locator('.inbox-row').nth(1).waitFor({ state: 'detached' }) // the list has loaded again, without the review
  await card(first).getByText('approved').first().waitFor()
  await told.waitFor()
  assert.equal(await card(3 - first).count(), 0)
  await page.getByRole('button', { name: 'Close' }).click()
  await card(3 - first).getByRole('button', { name: 'Deny' }).waitFor()
  assert.equal(await told.count(), 0)
  await close(page)
})

/** Returns the text of an answer: numbers that a double does not hold are only there. */
async function textOf(path: string): Promise<string> {
  return (await fetch(nodes[0]! + path, { headers: { 'Dormouse-Scope': scope, Authorization: `Bearer ${token}` } })).text()
}

/** Changes a text in the answers to a page, which it loads again. */
async function change(page: Page, url: string, before: string, after: string): Promise<void> {
  await page.route(url, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace(before, after) })
  })
  await page.reload()
}

test('whole numbers that no double holds stay as they are in edited arguments and in a timer that is set again', async () => {
  const account = '"account":9007199254740993'
  const review = await open(browser, `reviews?id=review-s-008&${at}`)
  await change(review, '**/v1/reviews/review-s-008', '"subject":', `${account},"subject":`)
  await review.getByLabel('subject').fill('no escape: \\ud')
  assert.equal(await review.getByLabel('account').inputValue(), '9007199254740993')
  await review.getByRole('button', { name: 'Approve with these edits' }).click()
  await review.getByText('Approved with other arguments').waitFor()
  assert.ok((await textOf('/v1/reviews/review-s-008')).includes(account))
  await close(review)
  const timer = await open(browser, `timers?in=chats&key=room-2&timer=follow-up&${at}`)
  await change(timer, '**/v1/managers/chats/timers*', '"data":{"entries":[{"payload":{"content":"any', `"attempts":1,"data":{${account},"entries":[{"payload":{"content":"any`)
  const card = timer.getByRole('region', { name: 'follow-up' })
  await card.getByText('9007199254740993').waitFor()
  await card.getByRole('button', { name: 'Retry' }).click()
  await timer.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click()
  await timer.getByRole('dialog').waitFor({ state: 'detached' })
  assert.ok((await textOf('/v1/managers/chats/instances/room-2/timers/follow-up')).includes(account))
  await close(timer)
})

test('a thread of 1,000,000 entries scrolls without a stall', async () => {
  const per = 1000
  const batch = Array.from({ length: per }, (_, i) => ({ kind: i % 2 ? 'tool_call' : 'message', payload: { content: `line ${i}` } }))
  let next = 0
  const append = async (): Promise<void> => {
    for (; next < 1_000_000 / per; ) {
      next++
      await call('POST', '/v1/threads/long/entries', { entries: batch }, scope)
    }
  }
  await Promise.all([append(), append(), append(), append()])
  await call('PUT', '/v1/checkpoints/long', { state: {}, thread: { id: 'long', rev: 500_001 } }, scope)
  const page = await open(browser, `agent?id=long&${at}`)
  await page.getByText('1,000,000 entries').waitFor()
  await page.getByRole('button', { name: /^999999 / }).waitFor() // live: at the end
  await page.getByRole('button', { name: 'Live' }).click()
  const list = page.getByRole('list', { name: 'Entries' })
  for (const part of [0, 0.5, 0.25, 0.9]) {
    await list.evaluate((el, p) => (el.scrollTop = (el.scrollHeight - el.clientHeight) * p), part)
    const seq = Math.round(999_970 * part)
    await page.waitForFunction((near) => [...document.querySelectorAll('.entry button .seq')].some((e) => Math.abs(Number(e.textContent) - near) < 200), seq)
  }
  // The pointer of the checkpoint is an entry that can be gone to, and rows go one by one from there.
  await page.getByLabel('Go to a seq or a time').fill('500000')
  await page.keyboard.press('Enter')
  await page.locator('.entry.pointed').getByText('500000').waitFor()
  await page.mouse.move(500, 400)
  await page.mouse.wheel(0, 600)
  await page.getByRole('button', { name: /^500030 / }).waitFor()
  // While the list moves, each frame is drawn in time, and few rows are in the document.
  const slowest = await list.evaluate(async (el) => {
    let last = performance.now()
    let most = 0
    for (let i = 0; i < 90; i++) {
      el.scrollTop += 4_000
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      most = Math.max(most, now - last)
      last = now
    }
    return most
  })
  assert.ok(slowest < 1_000, `a frame took ${slowest} ms`)
  assert.ok((await page.locator('.entry').count()) < 120)
  await close(page)
})
