// The example of the README is this one, and runs.
import { readFileSync } from 'node:fs'

it('shows the example that runs', async () => {
  const [, shown] = /```ts\n([^]*?)```/.exec(readFileSync(new URL('../README.md', import.meta.url), 'utf8')) ?? []
  expect(readFileSync(new URL('./example.ts', import.meta.url), 'utf8')).toContain(shown)
  await import('./example.js')
})
