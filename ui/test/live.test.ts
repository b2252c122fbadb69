import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessible, close, go, launch, open, token } from './browser.js'
import { call, seed } from './seed.js'

const scope = 'live'
const at = `scope=${scope}`
let browser: Browser
let agents: string[]

before(async () => {
  agents = await seed(scope)
  browser = await launch()
})
after(() => browser?.close())

const signal = (key: string, content: string): Promise<unknown> =>
  call('POST', `/v1/managers/chats/instances/${key}/signals`, { type: 'append', data: { entries: [{ payload: { content } }] } }, scope)

/** Does what a dialog is for. */
async function confirm(page: Page, button: string, fields: Record<string, string> = {}): Promise<void> {
  const dialog = page.getByRole('dialog')
  for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(new RegExp(`^${label}`)).fill(text)
  await dialog.getByRole('button', { name: button, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('instances are listed by manager and node, and change while the page is open', async () => {
  const page = await open(browser, `instances?${at}`)
  const table = page.getByRole('table', { name: 'Awake instances' })
  await table.getByRole('link', { name: 'room-1', exact: true }).waitFor()
  await page.getByText(/\d+ awake on \d nodes?/).waitFor()
  const told = await call<{ nodes: { node: string; awake: number }[] }>('GET', '/v1/managers/chats/stats', undefined, scope)
  const rows = page.getByRole('table', { name: 'Instances by node' }).getByRole('row')
  assert.equal(await rows.count(), told.nodes.length + 1)
  // The row has the mailbox and the time until it hibernates.
  const row = table.getByRole('row').filter({ has: page.getByRole('link', { name: 'room-1', exact: true }) })
  await row.getByText(/^9 min$/).waitFor()
  // A search is a part of the address; a started instance appears by itself.
  await page.keyboard.press('/')
  await page.keyboard.type('late-')
  await page.waitForURL(/prefix=late-/)
  await page.getByText('No awake instance').waitFor()
  await signal('late-1', 'hello')
  await table.getByRole('link', { name: 'late-1' }).waitFor()
  await call('POST', '/v1/managers/chats/instances/late-1/hibernate', undefined, scope)
  await page.getByText('No awake instance').waitFor()
  await page.getByRole('combobox', { name: 'Show' }).selectOption('stored')
  await page.getByRole('link', { name: 'late-1' }).click()
  await page.getByRole('heading', { name: 'late-1' }).waitFor()
  await page.locator('.about').getByText('dormant').waitFor()
  await close(page)
})

test('a manager is named although there is none yet', async () => {
  const page = await open(browser, 'instances?scope=nothing-here')
  await page.getByText('dormctl managers put').waitFor()
  await accessible(page)
  for (const [path, command] of [['pods', 'dormctl managers put'], ['timers', 'dormctl timers put'], ['memory', 'dormctl memory put'], ['memory?agent=a&mode=text&query=b', 'dormctl memory put a']] as const) {
    await page.goto(page.url().replace(/ui\/.*/, `ui/${path}${path.includes('?') ? '&' : '?'}scope=nothing-here`))
    await page.locator('.command').getByText(command).waitFor()
  }
  await close(page)
})

test('one instance is signalled, attached, detached, hibernated and stopped, and each change is shown', async () => {
  const page = await open(browser, `instance?manager=chats&key=fresh&${at}`)
  await page.getByText('A signal starts it').waitFor()
  const changes = page.getByRole('region', { name: 'Changes' })
  await changes.getByText('live').waitFor()
  // A signal of an example, then one that is no JSON, then one that the handler refuses.
  await page.getByRole('button', { name: 'append', exact: true }).click()
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('status', { name: 'Answer' }).waitFor()
  assert.equal((await call<{ rev: number }>('GET', '/v1/threads/instances%2Fchats%2Ffresh', undefined, scope)).rev, 1)
  await changes.getByText('awake').waitFor()
  await page.getByRole('textbox', { name: /^Data/ }).fill('{"entries":')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('alert').getByText('Data is not JSON').waitFor()
  await page.getByLabel('Type').fill('dance')
  await page.getByRole('textbox', { name: /^Data/ }).fill('')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('alert').getByText(/handler_failed|invalid/).waitFor()
  const state = page.getByRole('region', { name: 'State', exact: true })
  await state.getByText('9 min').waitFor()
  await page.getByRole('button', { name: 'Attach', exact: true }).click()
  await confirm(page, 'Attach', { 'Attachment': 'ada' })
  await state.getByText('attached').waitFor()
  assert.equal((await call<{ attachments: number }>('GET', '/v1/managers/chats/instances/fresh', undefined, scope)).attachments, 1)
  await page.getByRole('button', { name: 'Detach' }).click()
  await confirm(page, 'Detach', { 'Attachment': 'ada' })
  await state.getByText('9 min').waitFor()
  await page.getByRole('button', { name: 'Hibernate' }).click()
  await confirm(page, 'Hibernate')
  await changes.getByText('dormant').waitFor()
  await page.getByRole('button', { name: 'Wake' }).click()
  await confirm(page, 'Wake')
  await page.locator('.about').getByText('awake').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await confirm(page, 'Stop')
  await page.locator('.about').getByText('dormant').waitFor()
  await page.getByRole('link', { name: 'instances/chats/fresh' }).click()
  await page.getByRole('heading', { name: 'instances/chats/fresh', exact: true }).waitFor()
  await close(page)
})

test('a pod is a graph that changes as its nodes do', async () => {
  const page = await open(browser, `pods?${at}`)
  await page.getByRole('link', { name: 'refund-81-2205' }).click()
  const node = (name: string, status: string) => page.getByRole('button', { name: new RegExp(`^${name}, ${status}, agent of desk`) })
  await node('lead', 'stopped').waitFor()
  assert.equal(await page.locator('.graph .link').count(), 6)
  await page.getByRole('button', { name: 'Reconcile' }).click()
  await confirm(page, 'Reconcile')
  await node('lead', 'adopted').waitFor()
  await node('reader', 'adopted').waitFor()
  await page.getByRole('region', { name: 'Reconciled' }).filter({ hasText: 'started' }).waitFor()
  // The report is of this pod: the page of another one does not show it.
  const { search } = new URL(page.url())
  await go(page, `pod?manager=teams&key=refund-81-2204&${at}`)
  await page.getByRole('heading', { name: 'refund-81-2204', exact: true }).waitFor()
  await page.getByRole('region', { name: 'Newest mutation' }).waitFor()
  assert.equal(await page.getByRole('region', { name: 'Reconciled' }).count(), 0)
  await go(page, `pod${search}`)
  // One node, with the keyboard; the address has it.
  await node('writer', 'stopped').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/node=writer/)
  const card = page.getByRole('region', { name: 'writer', exact: true })
  await card.getByText('lead').first().waitFor()
  await card.getByRole('button', { name: 'Start' }).click()
  await confirm(page, 'Start')
  await node('writer', 'adopted').waitFor()
  await node('policy', 'adopted').waitFor()
  // A change by another client is drawn without a reload of the page.
  await call('POST', '/v1/managers/desk/instances/pod%2Fteams%2Frefund-81-2205%2Fpolicy/hibernate', undefined, scope)
  await node('policy', 'stopped').waitFor()
  await page.getByRole('button', { name: 'Mutate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove a node' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Mutate', exact: true }).click()
  await page.getByRole('alert').waitFor() // it has no node of this name
  await confirm(page, 'Mutate', { 'Changes': '[{"add_node":{"name":"clerk","node":{"manager":"desk","activation":"eager"},"owner":"lead"}},{"remove_node":{"name":"checker"}}]' })
  await node('clerk', 'adopted').waitFor()
  assert.equal(await page.getByRole('button', { name: /^checker,/ }).count(), 0)
  await page.getByRole('region', { name: 'Newest mutation' }).getByText('completed').first().waitFor()
  await page.getByRole('button', { name: 'Hibernate' }).click()
  await confirm(page, 'Hibernate')
  await node('clerk', 'stopped').waitFor()
  await close(page)
})

test('a pod is made with a topology', async () => {
  const page = await open(browser, `pods?${at}`)
  await page.getByRole('button', { name: 'New pod' }).click()
  await page.getByRole('dialog').getByLabel('Key').fill('made')
  await page.getByRole('dialog').getByRole('button', { name: 'A boss with a clerk' }).click()
  await confirm(page, 'New pod')
  await page.getByRole('button', { name: /^boss, adopted, agent of chats/ }).waitFor()
  await close(page)
})

test('memories are found with their scores and why, written and deleted', async () => {
  const agent = agents[0]!
  const page = await open(browser, `memory?agent=${agent}&${at}`)
  await page.getByRole('button', { name: 'Write a memory' }).click()
  await confirm(page, 'Write a memory', { 'Content': 'The grinder hums at night.', 'Tags': 'noise, kitchen', 'Vector': '[1, 0, 0]', 'Id': 'hum' })
  await page.getByText('The grinder hums at night.').waitFor()
  await call('PUT', `/v1/memory/${encodeURIComponent(agent)}/song`, { content: 'A bird sings.', embedding: [0.8, 0.6, 0] }, scope)
  // By words.
  await page.getByRole('textbox', { name: 'Words' }).fill('what hums at night?')
  await page.getByRole('button', { name: 'Recall' }).click()
  const first = page.locator('.memories > li').first()
  await first.locator('mark').getByText('hums').waitFor()
  const told = await call<{ items: { id: string; score: number }[] }>('POST', '/v1/memory/recall', { agent_id: agent, mode: 'text', query: 'what hums at night?', within: 'all' }, scope)
  assert.equal(told.items[0]!.id, 'hum')
  await first.getByText(`score ${told.items[0]!.score.toFixed(3)}`).waitFor()
  assert.match(page.url(), /mode=text&query=what/)
  // By words and a vector: both parts are told.
  await page.getByRole('combobox', { name: 'By' }).selectOption('hybrid')
  await page.getByRole('textbox', { name: /^Vector/ }).fill('[1, 0')
  await page.getByRole('button', { name: 'Recall' }).click()
  await page.getByRole('alert').getByText('The vector is not JSON').waitFor()
  await page.getByRole('textbox', { name: /^Vector/ }).fill('[1, 0, 0]')
  await page.getByRole('button', { name: 'Recall' }).click()
  await first.getByText(/words \d.* · vector 1\.000/).waitFor()
  await page.locator('.memories').getByText(/words no match · vector 0\.8/).waitFor()
  // By filters.
  await page.getByRole('combobox', { name: 'By' }).selectOption('query')
  await page.getByText('Filters', { exact: true }).click()
  await page.getByLabel('Text within').fill('')
  await page.getByLabel('Any of these tags').fill('kitchen')
  await page.getByRole('button', { name: 'Recall' }).click()
  await page.locator('.memories > li').nth(1).waitFor({ state: 'detached' }) // what was found before has two
  await first.getByText('matches the filters').waitFor()
  assert.equal(await page.locator('.memories > li').count(), 1)
  await first.getByRole('button', { name: 'Delete' }).click()
  await confirm(page, 'Delete')
  await page.getByText('No memory matches').waitFor()
  await page.getByRole('button', { name: 'List all instead' }).click()
  await page.getByText('A bird sings.').waitFor()
  await page.getByRole('button', { name: 'All agents' }).click()
  await page.getByRole('link', { name: agents[1]! }).first().waitFor()
  await close(page)
})

test('timers are told over the whole scope: set, explained, failed, retried and cancelled', async () => {
  const page = await open(browser, `timers?${at}`)
  const table = page.getByRole('table', { name: 'Timers' })
  await table.getByText('At 07:00, Monday through Friday').waitFor()
  await table.getByRole('link', { name: 'digest' }).click()
  const card = (name: string) => page.getByRole('region', { name, exact: true })
  assert.equal(await card('digest').locator('.instants li').count(), 5)
  const digest = await call<{ next: number }>('GET', '/v1/managers/chats/instances/room-1/timers/digest', undefined, scope)
  assert.equal(await card('digest').locator('.instants time').first().getAttribute('datetime'), new Date(digest.next).toISOString())
  // One is set; the form explains it while it is typed.
  await page.getByRole('button', { name: 'Set a timer' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Instance' }).fill('room-5')
  await page.getByRole('dialog').getByRole('textbox', { name: 'Timer' }).fill('weekly')
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 8 * * 1')
  await page.getByRole('textbox', { name: 'Zone' }).fill('Asia/Tokyo')
  await page.getByRole('dialog').getByText('At 08:30, only on Monday').waitFor()
  await accessible(page)
  const shown = await page.getByRole('dialog').locator('.instants time').first().getAttribute('datetime')
  await page.getByLabel('Type of the signal').fill('append')
  await page.getByRole('dialog').getByRole('textbox', { name: /^Data/ }).fill('{"entries":{"payload":{"content":"a new week"}}}')
  await page.getByRole('dialog').getByRole('button', { name: 'Set', exact: true }).click()
  await card('weekly').getByText('Asia/Tokyo').first().waitFor()
  for (let tries = 0; ; tries++) {
    const { next } = await call<{ next?: number }>('GET', '/v1/managers/chats/instances/room-5/timers/weekly', undefined, scope)
    if (next) {
      assert.equal(new Date(next).toISOString(), shown)
      break
    }
    assert.ok(tries < 50, 'the first occurrence was not computed')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // What fails says why, and is tried again.
  await page.getByRole('combobox', { name: 'State' }).selectOption('failing')
  await table.getByRole('link', { name: 'broken' }).click()
  await card('broken').getByText(/of 16 failed/).waitFor()
  const before_ = await call<{ generation: number }>('GET', '/v1/managers/chats/instances/room-3/timers/broken', undefined, scope)
  await card('broken').getByRole('button', { name: 'Retry' }).click()
  await confirm(page, 'Retry')
  assert.ok((await call<{ generation: number }>('GET', '/v1/managers/chats/instances/room-3/timers/broken', undefined, scope)).generation > before_.generation)
  await page.getByRole('combobox', { name: 'State' }).selectOption('')
  await table.getByRole('link', { name: 'broken' }).click()
  await card('broken').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).last().click()
  await page.getByText('The timer broken of room-3 is gone').waitFor()
  await close(page)
})

test('a timer whose attempts are used up is parked, with the reason', async () => {
  const page = await open(browser, `timers?${at}`)
  // It takes an hour for a timer to be parked: the page gets the answer of a node with one.
  await page.route('**/v1/managers/chats/timers*', async (route) => {
    const response = await route.fetch()
    const body = await response.json() as { items: Record<string, unknown>[] }
    const row = body.items.find((t) => t['id'] === 'follow-up')
    if (row) Object.assign(row, { parked: true, attempts: 16, last_error: 'handler_failed: the carrier answered 502' })
    await route.fulfill({ response, json: body })
  })
  await page.reload()
  await page.getByRole('combobox', { name: 'State' }).selectOption('parked')
  await page.getByRole('link', { name: 'follow-up' }).click()
  const card = page.getByRole('region', { name: 'follow-up' })
  await card.getByText('It does not fire any more').waitFor()
  await card.getByText('the carrier answered 502').waitFor()
  await card.getByRole('button', { name: 'Retry' }).waitFor()
  await close(page)
})

test('a reader sees instances, pods, memories and timers, and is offered no change', { skip: !token }, async () => {
  const made = await call<{ secret: string }>('POST', '/v1/tokens', { principal: 'watcher', grants: [{ verbs: ['read'], scopes: [scope] }] })
  for (const [path, ready] of [
    [`instances?${at}`, 'Manager chats'], [`instance?manager=chats&key=room-1&${at}`, 'Stored state'], [`pod?manager=teams&key=refund-81-2204&node=lead&${at}`, 'Newest mutation'],
    [`memory?${at}`, 'All agents'], [`timers?in=chats&key=room-1&timer=digest&${at}`, 'digest'],
  ] as const) {
    const page = await open(browser, path, { secret: made.secret })
    await page.getByRole('heading', { name: ready, exact: true }).waitFor()
    assert.equal(await page.getByRole('button', { name: /^(Send|Wake|Attach|Hibernate|Stop|Mutate|Reconcile|Start|Delete|Write a memory|Set a timer|Retry|Cancel)$/ }).count(), 0, path)
    await accessible(page)
    await close(page)
  }
  const outside = await open(browser, 'instances?scope=team-b', { secret: made.secret })
  await outside.getByRole('alert').getByText('forbidden').waitFor()
  await close(outside)
})
