import assert from 'node:assert/strict'
import { test } from 'node:test'
import { load } from './modules.js'

interface Argument {
  kind: string
  choices: readonly { text: string; value: unknown }[]
}

interface Form {
  argumentsOf: (values: unknown, metadata: unknown) => Argument[]
  textOf: (value: unknown) => string
  valueOf: (argument: Argument, text: string) => unknown
}

test('a choice has the value of the schema, and not its text', async () => {
  const { argumentsOf, textOf, valueOf } = await load<Form>('src/pages/reviews/form.ts')
  const values = [1, 2.5, true, null, 'now', '', [1], { a: 1 }]
  const [argument] = argumentsOf({ level: 1 }, { schema: { properties: { level: { enum: values } } } })
  assert.equal(argument!.kind, 'choice')
  assert.deepEqual(argument!.choices.map((c) => c.text), ['1', '2.5', 'true', 'null', 'now', '', '[1]', '{"a":1}'])
  for (const value of values) assert.deepEqual(valueOf(argument!, textOf(value)), value)
  assert.throws(() => valueOf(argument!, '3'), /level is none of its choices: 3/)
})

test('a field without choices has the value of its type', async () => {
  const { argumentsOf, valueOf } = await load<Form>('src/pages/reviews/form.ts')
  const [count, name, on, list] = argumentsOf({ count: 3, name: 'x', on: true, list: [] }, {})
  assert.deepEqual([valueOf(count!, '4'), valueOf(name!, '4'), valueOf(on!, 'false'), valueOf(list!, '[4]')], [4, '4', false, [4]])
  assert.throws(() => valueOf(count!, 'many'), /count is not a number: many/)
})
