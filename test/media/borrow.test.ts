// Copies of stored files on the disk of this machine, for as long as a request uses them.
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { borrowFile } from '../../src/media/receive.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
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

it('count as uploads in progress, until they are removed', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl })
  const { userId, workspaceId, apiKey } = await createAccount(databaseUrl, { plan: 'max' })
  const { id } = (await upload(gateway, apiKey, 'name,phone\n')).body.data
  // Each counts as 1 MiB at least.
  const limits = { maxMediaBytes: 2 * 1024 ** 2 }
  const ctx = { app: gateway.app, principal: { userId, workspaceId }, limits } as Context
  await using copies = new AsyncDisposableStack()
  const copy = async () => copies.use(await borrowFile(ctx, id))
  await copy()
  await copy()
  await expect(copy()).rejects.toThrow('At most 2 MiB of uploads at the same time')
  await copies.disposeAsync()
  await using again = await borrowFile(ctx, id)
  expect(again.path).toContain('incoming')
})
