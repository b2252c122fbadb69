import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessible, close, launch, narrow, open, token } from './browser.js'
import { call } from './seed.js'

interface Shares {
  nodes: { node: string; owned: number; drained_at?: number }[]
  moving: unknown[]
  pins: { partition: number; node: string }[]
}

let browser: Browser

before(async () => {
  browser = await launch()
})
after(async () => {
  for (const node of ['n1', 'n2', 'n3']) await call('POST', '/v1/cluster/resume', { node })
  await browser?.close()
})

const shares = (): Promise<Shares> => call<Shares>('GET', '/v1/placement')
const ownedBy = async (node: string): Promise<number> => (await shares()).nodes.find((n) => n.node === node)!.owned
const rowOf = (page: Page, node: string) => page.getByRole('table', { name: 'Shares' }).getByRole('row', { name: new RegExp(`^${node} `) })

/** Presses the button of the open dialog, and waits until the dialog has closed. */
async function confirm(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: button, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}

/** Waits for at most 30 s until a condition holds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 30_000; !(await holds()); await new Promise((next) => setTimeout(next, 200))) {
    assert.ok(Date.now() < deadline, `waited 30 s for ${holds}`)
  }
}

/** Waits until each node has its share and nothing moves. */
const settled = (): Promise<void> => until(async () => {
  const now = await shares()
  return now.moving.length === 0 && now.nodes.every((n) => n.owned > 1000)
})

test('a node is drained, shows what is left, and is resumed', async () => {
  await settled()
  const page = await open(browser, 'placement')
  const row = rowOf(page, 'n2')
  await row.getByText('in use').waitFor()
  await row.getByRole('button', { name: 'Drain' }).click()
  const dialog = page.getByRole('dialog', { name: 'Drain n2' })
  await dialog.getByText('keeps its vote').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Drain' }).isDisabled())
  await accessible(page)
  await dialog.getByLabel('Type n2 to confirm').fill('n2')
  await confirm(page, 'Drain')
  await row.getByText('drained', { exact: true }).waitFor({ timeout: 30_000 })
  assert.equal(await ownedBy('n2'), 0)
  await page.getByText('node n2 is drained').first().waitFor()
  await accessible(page)
  await row.getByRole('button', { name: 'Resume' }).click()
  await confirm(page, 'Resume')
  await row.getByText('in use').waitFor({ timeout: 30_000 })
  await settled()
  await close(page)
})

test('the last node is not drained, and the page says why', async () => {
  for (const node of ['n1', 'n3']) await call('POST', '/v1/cluster/drain', { node })
  const page = await open(browser, 'placement')
  await rowOf(page, 'n3').getByText('drained', { exact: true }).waitFor({ timeout: 30_000 })
  await rowOf(page, 'n2').getByRole('button', { name: 'Drain' }).click()
  await page.getByLabel('Type n2 to confirm').fill('n2')
  await page.getByRole('dialog').getByRole('button', { name: 'Drain', exact: true }).click()
  await page.getByRole('alert').getByText('no other node could own').waitFor()
  for (const node of ['n1', 'n3']) await call('POST', '/v1/cluster/resume', { node })
  await settled()
  await close(page)
})

test('the partition of a key moves to another node, and its pin is removed', async () => {
  const told = await call<{ partition: number; owner: string }>('GET', '/v1/placement/chats/room-77')
  const to = ['n1', 'n2', 'n3'].find((n) => n !== told.owner)!
  const page = await open(browser, 'placement?manager=chats&key=room-77')
  const card = page.getByRole('region', { name: 'Explain a key' })
  await card.getByRole('button', { name: 'Move', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Node').selectOption(to)
  await confirm(page, 'Move')
  await until(async () => (await call<typeof told>('GET', '/v1/placement/chats/room-77')).owner === to) // it drains first
  await card.getByText(`the partition is pinned to node ${to}`).first().waitFor()
  assert.deepEqual((await shares()).pins.map((p) => [p.partition, p.node]), [[told.partition, to]])
  const pins = page.getByRole('region', { name: 'Pins' })
  await pins.getByText(`partition ${told.partition}`).waitFor()
  await accessible(page)
  await card.getByRole('button', { name: 'Remove' }).click()
  await confirm(page, 'Remove')
  await pins.getByText('No partition is pinned').waitFor()
  assert.deepEqual((await shares()).pins, [])
  await close(page)
})

test('any partition is moved by its number, and a wrong one is explained', async () => {
  const page = await open(browser, 'placement')
  const pins = page.getByRole('region', { name: 'Pins' })
  await pins.getByRole('button', { name: 'Move', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Move a partition' })
  await dialog.getByLabel(/^Partition/).fill('4096')
  await dialog.getByRole('button', { name: 'Move', exact: true }).click()
  await dialog.getByRole('alert').getByText('must be from 0 to 4095').waitFor()
  await dialog.getByLabel(/^Partition/).fill('4095')
  await dialog.getByLabel('Node').selectOption('n3')
  await confirm(page, 'Move')
  await pins.getByText('partition 4095').waitFor()
  assert.deepEqual((await shares()).pins.map((p) => [p.partition, p.node]), [[4095, 'n3']])
  await pins.getByRole('button', { name: 'Remove' }).click()
  await confirm(page, 'Remove')
  await pins.getByText('No partition is pinned').waitFor()
  await close(page)
})

test('who may only look is offered no change of the placement', { skip: !token }, async () => {
  const made = await call<{ secret: string }>('POST', '/v1/tokens', { principal: 'watcher', grants: [{ verbs: ['cluster:read'] }] })
  const page = await open(browser, 'placement?manager=chats&key=room-77', { secret: made.secret, viewport: narrow })
  await rowOf(page, 'n1').waitFor()
  await page.getByText('Candidates, best first').waitFor()
  assert.equal(await page.getByRole('button', { name: /^(Drain|Resume|Move|Remove)$/ }).count(), 0)
  const refused = await fetch(new URL('/v1/cluster/drain', page.url()), { method: 'POST', headers: { Authorization: `Bearer ${made.secret}`, 'Content-Type': 'application/json' }, body: '{"node":"n1"}' })
  assert.equal(refused.status, 403)
  await accessible(page)
  await close(page)
})
