// An import that is refused in the middle of its file closes the file, whose space on the disk is free again only then.
import { expect, it } from 'vitest'
import { openScene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { openFiles } from '../media/rig.ts'
import { dataFolder } from '../promises/demo.ts'

it('closes a file with too many lines', async () => {
  const dataDir = await dataFolder()
  const scene = await openScene({ env: { DATA_DIR: dataDir } })
  const form = new FormData()
  form.append('file', new Blob(['+4915112345678\n'.repeat(150_000)]), 'numbers.txt')
  const url = new URL('/api/v1/suppressions/import', scene.gateways[0]?.url)
  const sent = await fetch(url, { method: 'POST', body: form, headers: { 'x-api-key': scene.account.apiKey } })
  expect([sent.status, (await sent.json()).error.message]).toEqual([400, 'file: must have at most 100000 lines'])
  await until(() => openFiles(dataDir) === 0)
})
