// Copies the Markdown pages of the repository into build/pages, where VitePress makes the site of
// them: each at the path that it has in the repository, so that links between them stay as they
// are. Other files that pages link to are copied beside them. Adds the reference of the HTTP API,
// drawn from the OpenAPI document, and that of the command line, drawn from dormctl itself.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { httpReference } from './http.mjs'
import { navigation } from './navigation.mjs'

const site = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(site)
const pages = join(site, 'build/pages')

rmSync(pages, { recursive: true, force: true })
mkdirSync(join(pages, 'public'), { recursive: true })
cpSync(join(site, '.vitepress'), join(pages, '.vitepress'), { recursive: true, filter: (path) => !path.includes('cache') })

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
const files = new Set(tracked)
const markdown = tracked.filter((path) => path.endsWith('.md') && !path.startsWith('site/'))
for (const path of markdown) {
  const target = join(pages, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, withLinks(path, readFileSync(join(root, path), 'utf8')))
}

// withLinks returns a page whose links lead to pages or files of the site. A link to a directory leads to
// its README, or becomes plain text; a link to a file that is no page gets a copy of that file.
function withLinks(path, text) {
  return text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, image, label, link) => {
    if (/^[a-z]+:|^#/.test(link)) return whole
    const [file, hash] = link.split('#')
    const to = normalize(join(dirname(path), decodeURI(file))).replace(/\/$/, '')
    const tail = hash ? '#' + hash : ''
    if (to.endsWith('.md') || to === '.') return whole
    if (files.has(to)) {
      const copy = join(pages, 'public/files', to)
      mkdirSync(dirname(copy), { recursive: true })
      cpSync(join(root, to), copy)
      if (image) return `![${label}](/files/${to})`
      return `<a href="/files/${to}" target="_blank">${label.replaceAll('`', '')}</a>`
    }
    if (files.has(to + '/README.md')) return `${image}[${label}](${relative(dirname(path), to + '/README.md')}${tail})`
    if (existsSync(join(root, to))) return label
    throw new Error(`${path}: nothing is at ${link}`)
  })
}

writeFileSync(join(pages, 'index.md'), withLinks('site/home.md', readFileSync(join(site, 'home.md'), 'utf8')))
const api = httpReference(JSON.parse(readFileSync(join(root, 'server/rest/testdata/openapi.json'), 'utf8')))
mkdirSync(join(pages, 'reference/http'), { recursive: true })
for (const page of api) writeFileSync(join(pages, 'reference/http', page.name + '.md'), page.text)

mkdirSync(join(pages, 'reference/cli'), { recursive: true })
execFileSync('go', ['test', './cmd/dormctl', '-count=1', '-run', '^TestEveryCommandIsDescribed$', '-args', '-reference', join(pages, 'reference/cli')], { cwd: root, stdio: 'inherit' })

const cli = JSON.parse(readFileSync(join(pages, 'reference/cli/index.json'), 'utf8'))
const missing = markdown.filter((path) => path.startsWith('docs/') && !path.startsWith('docs/adr/') && !navigation.some((group) => group.items.some((item) => item.link === '/' + path.replace(/\.md$/, ''))))
if (missing.length > 0) throw new Error(`pages without a place in scripts/navigation.mjs: ${missing.join(', ')}`)
const records = markdown.filter((path) => path.startsWith('docs/adr/')).map((path) => ({
  text: readFileSync(join(root, path), 'utf8').match(/^# (.*)$/m)[1],
  link: '/' + path.replace(/\.md$/, ''),
}))
writeFileSync(
  join(pages, '.vitepress/sidebar.json'),
  JSON.stringify([
    ...navigation,
    { text: 'HTTP reference', collapsed: true, items: api.map((page) => ({ text: page.title, link: '/reference/http/' + page.name })) },
    { text: 'Command line', collapsed: true, items: cli.map((page) => ({ text: page.title, link: '/reference/cli/' + page.name })) },
    { text: 'Decisions', collapsed: true, items: records },
  ]),
)
console.log(`${markdown.length} pages, ${api.length} of the HTTP reference, ${cli.length} of the command line, in ${relative(root, pages)}`)
