import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { load } from './modules.js'

interface Row {
  expression: string
  zone: string
  after: number
  next: number[] | null
}

interface Schedules {
  parse: (expression: string) => unknown
  instants: (schedule: unknown, zone: string, after: number, count: number) => number[]
}

test('the console computes the instants that nodes compute', async () => {
  const { parse, instants } = await load<Schedules>('src/pages/timers/schedule.ts')
  const rows = JSON.parse(readFileSync('test/cron.json', 'utf8')) as Row[]
  assert.ok(rows.length > 400)
  for (const row of rows) {
    const got = instants(parse(row.expression), row.zone || 'UTC', row.after * 1000, 5).map((at) => at / 1000)
    assert.deepEqual(got, row.next ?? [], `${row.expression} in ${row.zone || 'UTC'} after ${row.after}`)
  }
  for (const none of ['', '1 2 3', '60 * * * *', '* * * * 8', '@never', '5-1 * * * *', '*/0 * * * *']) assert.throws(() => parse(none), none)
})
