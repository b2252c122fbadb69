// Serves the built site on loopback until it is interrupted.
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { preview } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const port = Number(process.env.PORT ?? 8080)
await preview({ configFile: false, root, build: { outDir: 'dist' }, appType: 'mpa', preview: { host: '127.0.0.1', port, strictPort: true } })
console.log(`http://127.0.0.1:${port}/`)
