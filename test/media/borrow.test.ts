// Copies of stored files on the disk of this machine, for as long as a request uses them.
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { dataFolder } from '../promises/demo.ts'
import { openOwnRig } from '../rest-compat/rig.ts'
import { openFiles, upload } from './rig.ts'

it.skipIf(process.platform !== 'linux')('leave no file open when the disk takes none', async () => {
  const dataDir = await dataFolder()
  const { gateway, tenant } = await openOwnRig({ DATA_DIR: dataDir })
  const { id } = (await upload(gateway, tenant.account.apiKey, 'name,phone\n')).body.data
  const incoming = path.join(dataDir, 'media', 'incoming')
  rmSync(incoming, { recursive: true, force: true })
  writeFileSync(incoming, '')
  const operation = 'mutation ($id: ID!) { importContacts(input: { mediaId: $id }) { id } }'
  const { body } = await tenant.api.graphql(operation, { id })
  expect(body.errors).toHaveLength(1)
  expect(openFiles(dataDir)).toBe(0)
})
