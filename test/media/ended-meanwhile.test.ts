// An upload whose workspace ends while its bytes are on their way to the store leaves nothing there.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { deleteSomeMedia } from '../../src/media/service.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { dataFolder } from '../promises/demo.ts'
import { upload } from './rig.ts'

it('leaves neither a file nor a row', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { LOG_LEVEL: 'warn', DATA_DIR: await dataFolder() } })
  const { app } = gateway
  const { apiKey, workspaceId } = await createAccount(databaseUrl)
  app.failpoint = async (name) => {
    if (name === 'media.before_put') await deleteSomeMedia(app, workspaceId)
  }
  expect((await upload(gateway, apiKey, 'hello')).status).toBe(503)
  const files = readdirSync(path.join(app.config.dataDir, 'media'), { withFileTypes: true }).filter((file) => file.isFile())
  expect(files.map(({ name }) => name)).toEqual([])
  expect((await sql(databaseUrl).query('select from media')).rowCount).toBe(0)
})
