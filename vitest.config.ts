// Vitest projects, split by what a test needs; test/README.md describes each. Benchmarks are not tests.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { lessCollection } from './test/kit/less-collection.ts'
import { Order } from './test/kit/order.ts'

if (Number.parseInt(process.versions.node, 10) < 24) {
  throw new Error('The tests need Node 24. Run them with npm or npx, which put the installed Node 24 first on the path.')
}

const withDatabase = { globalSetup: ['test/kit/global-setup.ts'], setupFiles: ['test/kit/after-each-file.ts'] }
const [unit, deep] = ['test/**/*.unit.test.ts', 'test/**/*.deep.test.ts']

/** Files that compare a time with a promised one. */
const timed = globSync('test/**/*.test.ts').filter(
  (file) => !file.endsWith('.deep.test.ts') && /\/kit\/(measured|promptly)\.ts/.test(readFileSync(file, 'utf8')),
)

export default defineConfig({
  test: {
    pool: 'forks',
    // Node loads the sources as they are, like an operator's process; Vite's loader takes 74 s of processor time for what takes 71 s here.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) },
    execArgv: lessCollection,
    // For hung tests only: a shared machine may be many times slower than a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    sequence: { sequencer: Order },
    projects: [
      { extends: true, test: { name: 'unit', include: [unit], isolate: false, maxWorkers: 2, sequence: { groupOrder: 0 } } },
      // Those that wait for child processes and those that compute are one project, because vitest ends a worker when the next file is of
      // another project. Apart, those that wait left a sixth of two cores idle.
      {
        extends: true,
        test: {
          name: 'gateway',
          include: ['test/**/*.test.ts'],
          exclude: ['test/bench/**', unit, deep],
          isolate: false,
          maxWorkers: 6,
          sequence: { groupOrder: 1 },
          ...withDatabase,
        },
      },
      // Once more, one at a time, with exact times (npm run test:deep).
      {
        extends: true,
        test: {
          name: 'timed',
          include: timed,
          env: { EXACT_TIMES: '1' },
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          ...withDatabase,
        },
      },
      // Long runs and measurements, one at a time (npm run test:deep).
      {
        extends: true,
        test: {
          name: 'deep',
          include: [deep],
          env: { EXACT_TIMES: '1' },
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          ...withDatabase,
        },
      },
    ],
  },
})
