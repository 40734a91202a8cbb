// The files of the pages, when the process cannot open files for a moment.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { expect, it, onTestFinished, vi } from 'vitest'
import { assetOf } from '../../src/pages/assets.ts'

it('serves an asset as soon as it can be read, after it could not be read', async () => {
  const away = vi
    .spyOn(fs.promises, 'readFile')
    .mockRejectedValue(Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
  const readable = () => {
    away.mockRestore()
    syncBuiltinESMExports()
  }
  onTestFinished(readable)
  syncBuiltinESMExports()
  await expect(assetOf('explorer.css')).rejects.toThrow('too many open files')
  readable()
  const asset = await assetOf('explorer.css')
  expect(asset?.bytes.length).toBeGreaterThan(0)
  expect(await assetOf('explorer.css')).toBe(asset)
})
