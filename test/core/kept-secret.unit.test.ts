// A secret that is created once in a folder, even if several processes with one id create it at the same moment.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { keptSecret } from '../../src/core/database/data-dir.ts'

it('a secret is the same for all that create it at once, as in two containers whose processes have one id', async () => {
  for (let round = 0; round < 5; round++) {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'kept-'))
    onTestFinished(() => rm(dir, { recursive: true }))
    const create = async (_: unknown, turns: number) => {
      for (let i = 0; i < turns; i++) await turn()
      return (await keptSecret(dir, 'secret')).toString('hex')
    }
    const secrets = await Promise.all(Array.from({ length: 16 }, create))
    expect(new Set(secrets).size).toBe(1)
    expect(await readdir(dir)).toEqual(['secret'])
  }
})
