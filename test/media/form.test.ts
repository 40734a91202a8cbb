// A file that is refused during its upload leaves nothing on the disk.
import { pbkdf2 } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { saveForm } from '../../src/media/form.ts'
import { openSpool } from '../../src/media/spool.ts'
import { dataFolder } from '../promises/demo.ts'
import { rawForm } from './rig.ts'

/** Keeps the threads busy on which Node opens files, so that anything that is not awaited happens late. */
function busyThreads(): void {
  for (let i = 0; i < 8; i++) pbkdf2('password', 'salt', 20_000, 64, 'sha512', () => {})
}

it('creates the file before it reports a refusal, so that the removal cannot come before the creation', async () => {
  const dataDir = await dataFolder()
  const { headers, body } = rawForm('x'.repeat(1000), 'form-data; name="file"; filename="a"')
  for (let round = 0; round < 10; round++) {
    let path: string
    {
      await using spool = await openSpool(dataDir)
      path = spool.path
      busyThreads()
      const request = Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage
      await expect(saveForm(request, path, 999)).rejects.toMatchObject({ extensions: { code: 'MEDIA_STORAGE_EXCEEDED' } })
      expect(existsSync(path)).toBe(true)
    }
    expect(existsSync(path)).toBe(false)
  }
})
