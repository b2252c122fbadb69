import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { accessible, close, launch, nodes, open, token } from './browser.js'
import { call } from './seed.js'

const scope = 'quota'
let browser: Browser

before(async () => {
  await call('PUT', `/v1/scopes/${scope}`, { keys_max: 10, requests_per_second: 50_000 })
  for (let i = 0; i < 4; i++) await call('PUT', `/v1/values/k${i}`, { bytes: 'eA==' }, scope)
  browser = await launch()
})
after(() => browser?.close())

test('members are shown with their history', async () => {
  const page = await open(browser, 'cluster')
  for (const n of ['n1', 'n2', 'n3']) await page.getByRole('region', { name: n, exact: true }).getByText('alive').waitFor()
  await page.getByRole('region', { name: 'History' }).getByText('member joined').first().waitFor()
  await close(page)
})

test('settings of all nodes are compared, changed ones first, and filtered', async () => {
  const page = await open(browser, 'cluster?tab=settings')
  const rows = page.locator('.sheet tbody tr')
  await page.getByText('on n1, n2, n3').waitFor() // the page asks again once it knows all nodes
  await rows.first().waitFor()
  const changed = await rows.evaluateAll((all) => all.map((r) => r.classList.contains('changed-row')))
  assert.deepEqual(changed, [...changed].sort((a, b) => Number(b) - Number(a)))
  assert.ok(changed.includes(false) && changed.includes(true))
  const http = page.getByRole('row', { name: /^http\.addr/ })
  for (const n of ['n1', 'n2', 'n3']) assert.match((await http.textContent())!, new RegExp(`127\\.0\\.0\\.1:\\d+ ${n}`))
  await page.getByRole('searchbox').fill('slow_call')
  await page.waitForFunction(() => document.querySelectorAll('.sheet tbody tr').length === 1)
  await page.getByRole('row', { name: /log.slow_call 4ms 1s/ }).waitFor()
  await page.getByRole('searchbox').fill('no such setting')
  await page.getByText('No setting has').waitFor()
  await close(page)
})

test('the audit log of each node is paged, filtered, and shown in full', async () => {
  for (let i = 0; i < 260; i += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => fetch(`${nodes[0]!}/v1/values/gone-${i + n}`, { method: 'DELETE', headers: { 'Dormouse-Scope': scope, Authorization: `Bearer ${token}` } })))
  }
  const page = await open(browser, 'cluster?tab=audit&node=n1')
  await page.getByRole('table', { name: 'Audit log' }).waitFor()
  await page.getByText(/[2-9]\d\d shown, more below|[2-9]\d\d shown/).waitFor()
  const first = page.getByRole('button', { name: 'Record 1', exact: true })
  for (let i = 0; i < 50 && (await first.count()) === 0; i++) {
    await page.getByRole('rowgroup', { name: 'Audit log' }).evaluate((el) => (el.scrollTop = el.scrollHeight))
    await page.waitForTimeout(100) // the next page comes
  }
  await first.waitFor()
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('policy')
  await page.getByRole('button', { name: /^Record/ }).first().click()
  await page.getByRole('group', { name: 'Record' }).getByText('put_scope').waitFor()
  await accessible(page)
  // Another node has another log.
  await page.getByRole('combobox', { name: 'Kind' }).selectOption('start')
  await page.getByRole('combobox', { name: 'Node' }).selectOption('n3')
  await page.waitForURL(/node=n3/)
  await page.getByRole('button', { name: /^Record/ }).first().click()
  await page.getByRole('group', { name: 'Record' }).getByText('n3', { exact: true }).waitFor()
  await close(page)
})

test('a backup is taken at once, verified, and listed', async () => {
  const page = await open(browser, 'cluster?tab=backups')
  const table = page.getByRole('table', { name: 'Backups' })
  await table.getByText('verified').first().waitFor({ timeout: 30_000 })
  const before = await table.getByRole('row').count()
  await page.getByRole('button', { name: 'Back up now' }).click()
  await page.getByRole('dialog').getByText('reads it back').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Back up now' }).click()
  await page.getByText(/is stored and verified: .* of state at index [\d,]+, SHA-256 [0-9a-f]{16}/).waitFor({ timeout: 60_000 })
  await page.waitForFunction((rows) => document.querySelectorAll('[aria-label=Backups] [role=row]').length > rows, before)
  const stored = await call<{ backups: { verified_at: number; name: string }[] }>('GET', '/v1/cluster/backups')
  assert.equal(await table.getByRole('row').count(), stored.backups.length + 1)
  assert.ok(stored.backups.every((b) => b.verified_at > 0))
  await close(page)
})

test('a token is created with grants, shown once, replaced and revoked', { skip: !token }, async () => {
  const page = await open(browser, 'cluster?tab=tokens')
  await page.getByRole('button', { name: 'Create a token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create a token' })
  assert.ok(await dialog.getByRole('button', { name: 'Create' }).isDisabled())
  await dialog.getByLabel('Principal').fill('courier')
  await dialog.getByRole('textbox', { name: /^Scopes/ }).fill(`${scope} other-*`)
  await dialog.getByRole('checkbox', { name: /^write/ }).check()
  await dialog.getByRole('checkbox', { name: /^cluster:read/ }).check()
  await dialog.getByLabel('Ends').selectOption('86400000')
  await accessible(page)
  await dialog.getByRole('button', { name: 'Create' }).click()
  const shown = page.getByRole('dialog', { name: 'The token of courier' })
  const secret = (await shown.locator('.command code').textContent())!
  await accessible(page)
  const who = await call<{ principal: string; grants: { verbs: string[]; scopes?: string[] }[] }>('GET', '/v1/whoami', undefined, scope, secret)
  assert.equal(who.principal, 'courier')
  assert.deepEqual(who.grants.map((g) => [g.verbs, g.scopes ?? []]), [[['read', 'write'], [scope, 'other-*']], [['cluster:read'], []]])
  await page.getByRole('button', { name: 'I have copied it' }).click()
  assert.equal((await page.content()).includes(secret), false)
  // A successor with the same grants; then the old one goes.
  const row = page.getByRole('row', { name: /^courier/ })
  await row.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  const next = (await shown.locator('.command code').textContent())!
  const again = await call<typeof who>('GET', '/v1/whoami', undefined, scope, next)
  assert.deepEqual(again.grants, who.grants)
  const old = (await shown.locator('code').last().textContent())!
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('row', { name: new RegExp(`courier.*${old}`) }).getByRole('button', { name: 'Revoke' }).click()
  const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke' })
  assert.ok(await revoke.isDisabled())
  await page.getByLabel('Type courier to confirm').fill('courier')
  await revoke.click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('table', { name: 'Tokens' }).getByText(old).waitFor({ state: 'detached' })
  const refused = await fetch(`${nodes[0]!}/v1/whoami`, { headers: { Authorization: `Bearer ${secret}` } })
  assert.equal(refused.status, 401)
  assert.equal((await call<typeof who>('GET', '/v1/whoami', undefined, scope, next)).principal, 'courier')
  // A third one is refused, with the reason.
  await row.getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await row.first().getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  await page.getByRole('alert').getByText(/has too many tokens: revoke one/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('dormctl cluster-key').waitFor()
  await close(page)
})

test('quotas are shown with their use', async () => {
  const page = await open(browser, `cluster?tab=quotas&scope=${scope}`)
  await page.getByRole('region', { name: `Use of ${scope}` }).getByText('4 of 10').waitFor()
  assert.equal(await page.getByRole('meter', { name: 'Keys', exact: true }).getAttribute('aria-valuetext'), '40 %')
  await page.getByText('50,000 a second on each node').waitFor()
  await page.getByRole('row', { name: new RegExp(`^${scope} its own .* Keys 40 %`) }).waitFor()
  await close(page)
})

test('quotas of a scope are changed, refused if they are no numbers, and removed', async () => {
  const name = 'quota-changed'
  for (let i = 0; i < 4; i++) await call('PUT', `/v1/values/k${i}`, { bytes: 'eA==' }, name)
  const page = await open(browser, `cluster?tab=quotas&scope=${name}`)
  const limits = page.getByRole('region', { name: 'Limits of the scope' })
  await limits.getByRole('button', { name: 'Change' }).click()
  const dialog = page.getByRole('dialog', { name: `Limits of ${name}` })
  await dialog.getByLabel(/^Keys/).fill('3')
  await dialog.getByText('uses 4: writes that add are refused').waitFor()
  await dialog.getByLabel(/^Keys/).fill('1,000')
  await dialog.getByLabel(/^Bytes/).fill('2 GiB')
  await dialog.getByLabel(/^Age of history/).fill('36 h')
  await dialog.getByLabel(/^Requests/).fill('many')
  await accessible(page)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').getByText('“many” is not a limit').waitFor()
  await dialog.getByLabel(/^Requests/).fill('70,000')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: `Use of ${name}` }).getByText('4 of 1,000').waitFor()
  await limits.getByText('70,000 a second on each node').waitFor()
  interface Scope { own_policy: boolean; policy: Record<string, number> }
  const read = (): Promise<Scope> => call<Scope>('GET', `/v1/scopes/${name}`)
  const { keys_max, bytes_max, history_age_ms, requests_per_second } = (await read()).policy
  assert.deepEqual([keys_max, bytes_max, history_age_ms, requests_per_second], [1000, 2 * 1024 ** 3, 36 * 3_600_000, 70_000])
  // Another person changes them while the form is open: it says so, and writes nothing.
  await limits.getByRole('button', { name: 'Change' }).click()
  assert.deepEqual([await dialog.getByLabel(/^Bytes/).inputValue(), await dialog.getByLabel(/^Age of history/).inputValue()], ['2 GiB', '36 h'])
  await call('PUT', `/v1/scopes/${name}`, { keys_max: 7 })
  await dialog.getByLabel(/^Keys/).fill('8')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').getByText('Another person changed these limits').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await read()).policy['keys_max'], 7)
  await limits.getByRole('button', { name: 'Use the default' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Use the default' }).click()
  await page.getByRole('region', { name: `Use of ${name}` }).getByText('default policy').waitFor()
  assert.equal((await read()).own_policy, false)
  await close(page)
})

test('the limits of scopes without a policy are changed', async () => {
  const page = await open(browser, 'cluster?tab=quotas')
  const card = page.getByRole('region', { name: 'Default policy' })
  const set = async (text: string): Promise<void> => {
    await card.getByRole('button', { name: 'Change' }).click()
    await page.getByRole('dialog').getByLabel(/^Threads/).fill(text)
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await set('2,000,000')
  await card.getByText('2,000,000').waitFor()
  assert.equal((await call<{ threads_max?: number }>('GET', '/v1/default-policy')).threads_max, 2_000_000)
  await set('')
  await card.getByText('It limits nothing that a scope holds').waitFor()
  await close(page)
})

test('a join token is created, and shown once', { skip: !token }, async () => {
  const page = await open(browser, 'cluster?tab=tokens')
  await page.getByRole('button', { name: 'Create a join token' }).click()
  await page.getByRole('dialog').getByLabel('Ends after').selectOption('10 minutes')
  await page.getByRole('dialog').getByRole('button', { name: 'Create a join token' }).click()
  const shown = page.getByRole('dialog', { name: 'A join token' })
  const secret = (await shown.locator('.command code').first().textContent())!
  assert.match(secret, /^dormjoin_/)
  await shown.getByText(/in (9|10) min/).waitFor()
  await accessible(page)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  assert.equal((await page.content()).includes(secret), false)
  await close(page)
})

test('slow calls of all nodes are listed with the parts of their time', async () => {
  await Promise.all(nodes.map(async (node) => {
    for (let i = 0; i < 30; i++) await fetch(`${node}/v1/values/slow`, { method: 'PUT', body: 'x'.repeat(300_000), headers: { 'Dormouse-Scope': scope, Authorization: `Bearer ${token}`, 'Content-Type': 'text/plain' } })
  }))
  const page = await open(browser, 'cluster?tab=slow')
  await page.getByRole('table', { name: 'Slow calls' }).getByText('commit').first().waitFor()
  await page.getByRole('img', { name: /until a majority had it on disk: / }).first().waitFor()
  await close(page)
})

test('a reader is offered the quotas of their scope, and nothing of operators', { skip: !token }, async () => {
  const made = await call<{ secret: string }>('POST', '/v1/tokens', { principal: 'onlooker', grants: [{ verbs: ['read'], scopes: [scope] }] })
  const page = await open(browser, `cluster?scope=${scope}`, { secret: made.secret })
  await page.getByRole('region', { name: `Use of ${scope}` }).waitFor()
  assert.deepEqual(await page.locator('.tabs a').allTextContents(), ['Quotas'])
  assert.equal(await page.getByRole('button', { name: /Change|Use the default/ }).count(), 0)
  await accessible(page)
  for (const [tab, verb] of [['members', 'cluster:read'], ['settings', 'cluster:change'], ['backups', 'cluster:backup'], ['audit', 'cluster:change'], ['tokens', 'tokens:change'], ['slow', 'cluster:change']]) {
    await page.goto(`${nodes[0]!}/ui/cluster?tab=${tab}&scope=${scope}`)
    await page.getByRole('alert').getByText(`does not include ${verb}`).waitFor()
    assert.equal(await page.getByRole('button', { name: /Back up|Create|Revoke|Replace|Change|Use the default/ }).count(), 0)
  }
  await close(page)
})
