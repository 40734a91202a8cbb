// A secret that is created once in a folder, even if several processes with one id create it at the same moment or the power fails.
import { type FileHandle, mkdtemp, open, readdir, readlink, realpath, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
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

// Elsewhere the path of an open file cannot be read.
it.runIf(process.platform === 'linux')(
  'a secret is on the disk before it has its name, and its name before it is used',
  async () => {
    const dir = await realpath(await mkdtemp(path.join(os.tmpdir(), 'kept-')))
    onTestFinished(() => rm(dir, { recursive: true }))
    await using folder = await open(dir)
    const synced: [file: string, named: boolean][] = []
    const { sync } = Object.getPrototypeOf(folder) as FileHandle
    const watched = vi.spyOn(Object.getPrototypeOf(folder) as FileHandle, 'sync').mockImplementation(async function (
      this: FileHandle,
    ) {
      synced.push([await readlink(`/proc/self/fd/${this.fd}`), (await readdir(dir)).includes('secret')])
      await sync.call(this)
    })
    onTestFinished(() => watched.mockRestore())
    await keptSecret(dir, 'secret')
    expect(synced).toEqual([
      [expect.stringMatching(`^${dir}/secret\\.`), false],
      [dir, true],
    ])
  },
)
