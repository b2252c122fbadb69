// These tests change the members of their cluster, so they have one of their own: make ui-test starts it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessible, close, launch, nodes, open, token } from '../browser.js'
import { call } from '../seed.js'

interface Member {
  id: string
  leader?: boolean
  voter?: boolean
  status: string
  addresses: { http: string }
}

let browser: Browser

before(async () => {
  browser = await launch()
})
after(() => browser?.close())

const members = async (): Promise<Member[]> => (await call<{ members: Member[] }>('GET', '/v1/cluster')).members

/** Waits until the members are as they should be. */
async function until(what: string, holds: (all: Member[]) => boolean): Promise<Member[]> {
  const end = Date.now() + 30_000
  for (;;) {
    const all = await members()
    if (holds(all)) return all
    assert.ok(Date.now() < end, `${what}: ${JSON.stringify(all.map((m) => [m.id, m.status, m.leader, m.voter]))}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const rowOf = (page: Page, node: string) => page.getByRole('table', { name: 'Nodes' }).getByRole('row').filter({ has: page.getByText(node, { exact: true }) })

test('leadership is transferred to the chosen node', async () => {
  const before_ = await until('three voters and a leader', (all) => all.filter((m) => m.voter).length === 3 && all.some((m) => m.leader))
  const leader = before_.find((m) => m.leader)!.id
  const next = before_.find((m) => !m.leader)!.id
  const page = await open(browser, '')
  await rowOf(page, leader).getByText('leader', { exact: true }).waitFor()
  assert.equal(await rowOf(page, leader).getByRole('button', { name: 'Transfer' }).count(), 0)
  // Cancel does nothing.
  await rowOf(page, next).getByRole('button', { name: 'Transfer' }).click()
  const dialog = page.getByRole('dialog', { name: `Make ${next} the leader` })
  await dialog.getByText(`${leader} hands leadership to ${next}`).waitFor()
  await accessible(page)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await members()).find((m) => m.leader)?.id, leader)
  await rowOf(page, next).getByRole('button', { name: 'Transfer' }).click()
  await dialog.getByRole('button', { name: 'Transfer' }).click()
  await dialog.waitFor({ state: 'detached' })
  await rowOf(page, next).getByText('leader', { exact: true }).waitFor()
  await until(`${next} leads`, (all) => all.find((m) => m.leader)?.id === next)
  await close(page)
})

test('a voter is made a non-voter, and votes again', async () => {
  const follower = (await members()).find((m) => !m.leader)!.id
  const page = await open(browser, '')
  await rowOf(page, follower).getByRole('button', { name: 'Demote' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Demote' }).click()
  await rowOf(page, follower).getByText('non-voter', { exact: true }).waitFor()
  await until(`${follower} has no vote`, (all) => !all.find((m) => m.id === follower)!.voter)
  await rowOf(page, follower).getByRole('button', { name: 'Promote' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click()
  await rowOf(page, follower).getByText('voter', { exact: true }).waitFor()
  await until(`${follower} votes`, (all) => Boolean(all.find((m) => m.id === follower)!.voter))
  await close(page)
})

test('a reader of the cluster sees the nodes, and is offered no change of them', { skip: !token }, async () => {
  const made = await call<{ secret: string }>('POST', '/v1/tokens', { principal: 'viewer', grants: [{ verbs: ['cluster:read'] }] })
  const page = await open(browser, '', { secret: made.secret })
  await page.getByRole('table', { name: 'Nodes' }).waitFor()
  assert.equal(await page.getByRole('button', { name: /Transfer|Promote|Demote|Leave/ }).count(), 0)
  const refused = await fetch(`${nodes[0]!}/v1/cluster/leave`, { method: 'POST', body: JSON.stringify({ node: 'n3' }), headers: { Authorization: `Bearer ${made.secret}`, 'Content-Type': 'application/json' } })
  assert.equal(refused.status, 403)
  await close(page)
})

test('a node leaves for good, once its name is typed, and the cluster goes on', async () => {
  await call('PUT', '/v1/values/kept', { bytes: 'eA==' })
  const all = await members()
  const gone = all.find((m) => !m.leader)!
  const stays = all.find((m) => m.leader)!
  const page = await open(browser, '', { node: `http://${stays.addresses.http}` })
  await rowOf(page, gone.id).getByRole('button', { name: 'Leave' }).click()
  const dialog = page.getByRole('dialog', { name: `Remove ${gone.id} for good` })
  const leave = dialog.getByRole('button', { name: 'Leave' })
  assert.ok(await leave.isDisabled())
  const field = dialog.getByLabel(`Type ${gone.id} to confirm`)
  await field.fill(stays.id)
  assert.ok(await leave.isDisabled())
  await accessible(page)
  await field.fill(gone.id)
  await leave.click()
  await dialog.waitFor({ state: 'detached' })
  // The page shows it, the cluster has one voter less, and both go on.
  await page.waitForFunction((name) => {
    const rows = [...document.querySelectorAll('[aria-label=Nodes] [role=row]')]
    const row = rows.find((r) => r.querySelector('strong')?.textContent === name)
    return !row || /left/.test(row.textContent ?? '')
  }, gone.id)
  await page.getByText('may lose no node').waitFor()
  await until(`${gone.id} has left`, (now) => now.filter((m) => m.voter).length === 2 && !now.some((m) => m.id === gone.id && m.voter))
  const read = await fetch(`http://${stays.addresses.http}/v1/values/kept`, { headers: token ? { Authorization: `Bearer ${token}` } : {} })
  assert.equal(read.status, 200)
  await close(page)
})
