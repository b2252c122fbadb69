import { defineConfig } from '@hey-api/openapi-ts'

export default defineConfig({
  input: '../../server/rest/testdata/openapi.json',
  output: { path: 'build/hey', module: { extension: '.js' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
})
