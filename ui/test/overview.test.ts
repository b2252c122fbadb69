import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { accessible, close, launch, open } from './browser.js'
import { call } from './seed.js'

const scope = `attention-${crypto.randomUUID().slice(0, 4)}`
let browser: Browser

/** Begins a turn of a new session and ends it. */
async function ended(session: string, status: 'error' | 'hibernated'): Promise<void> {
  await call('PUT', `/v1/sessions/${session}`, { agent_id: 'a' }, scope)
  const { lease } = await call<{ lease: { lease_id: string } }>('POST', `/v1/sessions/${session}/claim`, { owner_id: 'w', ttl_ms: 60_000, request: { id: `${session}-r`, input: {} } }, scope)
  const snapshot = { snapshot_id: `${session}-s`, cursor: { loop_index: 0, phase: 'start' }, turn_state: {} }
  if (status === 'hibernated') await call('POST', `/v1/sessions/${session}/checkpoint`, { owner_id: 'w', lease_id: lease.lease_id, snapshot }, scope)
  await call('POST', `/v1/sessions/${session}/commit`, { owner_id: 'w', lease_id: lease.lease_id, session: { status, ...(status === 'error' ? { error: { code: 'tool_failed' } } : {}) } }, scope)
}

before(async () => {
  for (let i = 0; i < 30; i++) await call('PUT', `/v1/managers/m-${String(i).padStart(2, '0')}`, { handler: { kind: 'document' } }, scope)
  await call('PATCH', '/v1/managers/m-29/instances/one/cron', { nightly: { cron_expression: '0 3 1 1 *', message: { type: 'append', data: { entries: [] } } } }, scope)
  await call('PUT', '/v1/managers/m-28/instances/one/timers/broken', { at: Date.now(), type: 'append', data: { entries: 'no list' } }, scope)
  await ended('failed-1', 'error')
  await ended('failed-2', 'error')
  await ended('asleep', 'hibernated')
  browser = await launch()
})
after(() => browser?.close())

const matter = (page: Page, text: string) => page.getByRole('region', { name: 'Needs a person' }).getByRole('link', { name: text, exact: true })

test('the overview finds failed sessions and timers of all managers, and links to them', async () => {
  const page = await open(browser, `?scope=${scope}`)
  await matter(page, '1 hibernated session').waitFor()
  await matter(page, '1 failing timer').waitFor() // of the 29th manager
  await page.getByText('in the last 24 hours').waitFor()
  await accessible(page)
  await matter(page, '2 failed sessions').click()
  await page.getByRole('link', { name: 'failed-2' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'asleep' }).count(), 0)
  assert.match(page.url(), /status=error/)
  await close(page)
})

test('the overview tells a parked job from a parked timer', async () => {
  const page = await open(browser, `?scope=nothing-here`)
  await page.getByText('Nothing needs you now').waitFor()
  // It takes an hour for a job to be parked: the page gets the answer of a node with one.
  await page.route('**/v1/reads*', async (route) => {
    const response = await route.fetch()
    const body = await response.json() as { answers: { read: string; found: { items: Record<string, unknown>[] } }[] }
    for (const answer of body.answers.filter((a) => a.read === 'list_timers')) {
      for (const timer of answer.found.items.filter((t) => t['id'] === 'cron:nightly')) Object.assign(timer, { parked: true, attempts: 16, last_error: 'the ledger is closed' })
    }
    await route.fulfill({ response, json: body })
  })
  await page.getByLabel('Scope').selectOption(scope)
  await matter(page, '1 parked job').waitFor()
  await page.getByText('the ledger is closed').waitFor()
  await close(page)
})

test('the overview says "at least" where it did not read everything', async () => {
  for (let batch = 0; batch < 2; batch++) {
    const ops = Array.from({ length: 60 }, (_, i) => ({ op: 'put_timer', manager: 'm-03', key: `k-${batch}`, timer: `t-${i}`, at: Date.now() + 3_600_000, type: 'append', data: { entries: [] } }))
    await call('POST', '/v1/commits', { ops }, scope)
  }
  const many = Array.from({ length: 101 }, (_, i) => ({ op: 'put_session', session: `many-${String(i).padStart(3, '0')}`, agent_id: 'a', status: 'error' }))
  await call('POST', '/v1/commits', { ops: many }, scope)
  const page = await open(browser, `?scope=${scope}`)
  await matter(page, 'At least 100 failed sessions').waitFor()
  await matter(page, 'At least 1 failing timer').waitFor()
  await page.getByText('at most 100 of each of 1,000 managers').waitFor()
  await close(page)
})
