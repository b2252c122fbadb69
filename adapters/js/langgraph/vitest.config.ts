import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { globals: true, include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false } })
