// Loaded by vitest before each test file: closes at the end of the file whatever the kit still has open, and records its cost.
import path from 'node:path'
import { afterAll, expect } from 'vitest'
import { closeAll } from './at-end.ts'
import { recordSince, type Spent } from './cost.ts'

/** Files of one worker share its modules but not this one, which vitest loads anew for each file. */
const worker = globalThis as typeof globalThis & { spentBefore?: Spent }

afterAll(async () => {
  await closeAll()
  worker.spentBefore = recordSince(worker.spentBefore, path.relative(process.cwd(), String(expect.getState().testPath)))
})
