// Writes src/schema.ts and src/operations.ts from the OpenAPI document. With --check it only
// compares them, and fails if they are stale.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const document = JSON.parse(await readFile(new URL('../../../server/rest/testdata/openapi.json', import.meta.url), 'utf8'))
document.info.version = 'dev'

const idempotent = []
const reads = []
const onInstances = []
const withoutStale = []
const withoutMinIndex = []
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(item)) {
    const name = `${method.toUpperCase()} ${path}`
    const takes = (parameter) => operation.parameters?.some((p) => p.name === parameter)
    const ofInstance = operation.tags?.some((tag) => tag === 'instances' || tag === 'pods')
    if (takes('Idempotency-Key') && ofInstance) onInstances.push(name)
    if (takes('Idempotency-Key')) idempotent.push(name)
    else if (method === 'get' || takes('min_index')) {
      reads.push(name)
      if (!takes('stale')) withoutStale.push(name)
      if (!takes('min_index')) withoutMinIndex.push(name)
    }
  }
}
const list = (name, doc, all) => `/** ${doc} */\nexport const ${name}: ReadonlySet<string> = new Set([\n${all.sort().map((s) => `  '${s}',`).join('\n')}\n])\n`
const head = '// Generated from the OpenAPI document by scripts/generate.mjs.\n\n'
const files = {
  'src/operations.ts': head + list('idempotent', 'The calls that take an Idempotency-Key: they may be sent again.', idempotent) + '\n' +
    list('onInstances', 'The idempotent calls on instances and pods. A refusal is about one attempt: it comes before a node looks for the answer to an earlier one.', onInstances) + '\n' +
    list('reads', 'The calls that change nothing.', reads) + '\n' +
    list('withoutStale', 'The reads that do not take stale.', withoutStale) + '\n' +
    list('withoutMinIndex', 'The reads that do not take min_index.', withoutMinIndex),
  'src/schema.ts': head + astToString(await openapiTS(document, { alphabetize: true })),
}
let stale = false
for (const [file, text] of Object.entries(files)) {
  const url = new URL(`../${file}`, import.meta.url)
  if (process.argv.includes('--check')) {
    if ((await readFile(url, 'utf8').catch(() => '')) !== text) {
      console.error(`${file} is stale: run npm run generate in sdk/js`)
      stale = true
    }
  } else {
    await writeFile(url, text)
  }
}
process.exit(stale ? 1 : 0)
