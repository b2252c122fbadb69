import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const root = new URL('../../', import.meta.url)

test('the package holds what it needs, and nothing else', () => {
  const [packed] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' })) as [{ files: { path: string }[] }]
  const paths = packed.files.map((file) => file.path).sort()
  const modules = ['claim', 'client', 'errors', 'events', 'hold', 'index', 'json', 'keys', 'operations', 'problems', 'schema', 'send', 'transport', 'types', 'wait', 'watch', 'watches']
  const want = ['README.md', 'package.json', ...modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])].sort()
  assert.deepEqual(paths.filter((path) => path !== 'LICENSE'), want)
})

test('the package has no dependencies', () => {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as Record<string, unknown>
  assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
})

test('the types are those of the OpenAPI document', () => {
  execFileSync(process.execPath, ['scripts/generate.mjs', '--check'], { cwd: root, stdio: 'pipe' })
})
