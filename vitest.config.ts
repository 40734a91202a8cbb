// How the tests run: real PostgreSQL for all of them, two files at a time. The benches are no tests.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

if (Number.parseInt(process.versions.node, 10) < 24) {
  throw new Error(
    'The tests need Node 24: run them with npm (`npm test`, `npx vitest run FILE`), which puts the one installed first',
  )
}

export default defineConfig({
  // The form that Node itself loads; vite would load the other one beside it, and graphql refuses to be there twice.
  resolve: { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }] },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**'],
    globalSetup: ['test/kit/global-setup.ts'],
    setupFiles: ['test/kit/after-each-file.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // For what hangs: a machine that others use too may be several times slower than a quiet one.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
