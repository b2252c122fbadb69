import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { close, launch, open } from './browser.js'
import { call } from './seed.js'

const scope = 'exact'
const at = `scope=${scope}`
/** Whole numbers that no double holds: a double is the one for the other. */
const [low, high] = ['9007199254740992', '9007199254740993']
let browser: Browser

before(async () => {
  browser = await launch()
})
after(() => browser?.close())

test('a conversation is downloaded with whole numbers that no double holds', async () => {
  await call('POST', '/v1/conversations/ledger/messages', `{"messages":[{"role":"user","content":{"text":"Which account?","account":${high}}}]}`, scope)
  const page = await open(browser, `conversation?id=ledger&${at}`)
  await page.getByText('Which account?').waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()])
  assert.ok(readFileSync(await download.path(), 'utf8').includes(`"account": ${high}`))
  await close(page)
})

test('revisions are compared by whole numbers that no double holds', async () => {
  await call('PUT', '/v1/checkpoints/ledger', `{"state":{"account":${low},"same":${high}}}`, scope)
  await call('PUT', '/v1/checkpoints/ledger', `{"state":{"account":${high},"same":${high}}}`, scope)
  const page = await open(browser, `agent?id=ledger&${at}`)
  const card = page.getByRole('region', { name: 'Checkpoint' })
  await card.getByRole('group', { name: 'State' }).getByText(high).first().waitFor()
  await page.getByRole('combobox', { name: 'Compared with' }).selectOption('1')
  await card.getByText(`− ${low}`, { exact: true }).waitFor()
  await card.getByText(`+ ${high}`, { exact: true }).waitFor()
  assert.deepEqual(await card.locator('.diff-path').allTextContents(), ['state.account'])
  await close(page)
})
