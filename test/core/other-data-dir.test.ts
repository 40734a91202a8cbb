// A DATA_DIR whose database has another password, because its files come from elsewhere, is refused at once, and left as it was.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { openEmbedded } from '../../src/core/database/embedded.ts'
import { type OwnServer, ownServer, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'

let server: OwnServer
let dataDir: string
let password: string
beforeAll(async () => {
  server = await ownServer()
  dataDir = server.dataDir
  password = path.join(dataDir, 'database-password')
})

async function refused(): Promise<void> {
  await expect(openEmbedded({ dataDir, as: 'gateway' })).rejects.toThrow(
    `${password} is missing, or does not hold the password of the database beside it; restore both from the same backup, or set another DATA_DIR`,
  )
}

it('with another password: a server that runs goes on, and one that was started stops', async () => {
  writeFileSync(password, 'ab'.repeat(32))
  await refused()
  expect((await sql(server.url).query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await server.stop('fast')
  await refused()
  await until(() => !existsSync(path.join(dataDir, 'postgres/postmaster.pid')))
})

it('without the password, of which none is made', async () => {
  await server.stop('fast')
  rmSync(password, { force: true })
  const before = readdirSync(dataDir)
  await refused()
  expect(readdirSync(dataDir)).toEqual(before)
})
