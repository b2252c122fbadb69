import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { withMermaid } from 'vitepress-plugin-mermaid'

const sidebar = JSON.parse(readFileSync(fileURLToPath(new URL('./sidebar.json', import.meta.url)), 'utf8'))

export default withMermaid({
  title: 'Dormouse',
  description: 'The store in which AI agents sleep and wake',
  lang: 'en',
  outDir: '../../dist',
  lastUpdated: false,
  markdown: { html: true },
  themeConfig: {
    search: { provider: 'local' },
    sidebar,
    nav: [
      { text: 'Quick start', link: '/docs/quickstart' },
      { text: 'HTTP', link: '/docs/http' },
      { text: 'Operations', link: '/docs/operations' },
      { text: 'Performance', link: '/docs/performance' },
    ],
    outline: 'deep',
  },
  vite: { build: { chunkSizeWarningLimit: 4000 }, logLevel: 'warn' },
})
