// The database falls silent while a message is being sent: what Meta has answered decides, and what did not leave is tried again.
import { beforeAll, expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { upload } from '../media/rig.ts'
import { fresh, type Rig, rigOf } from './rig.ts'
import { openStandIn } from './stand-in.ts'

let gateway: InnerGateway
let rig: Rig

beforeAll(async () => {
  const [databaseUrl, standIn] = await Promise.all([cloneDatabase(), openStandIn()])
  const env = { CLOUD_API_URL: standIn.url, CLOUD_RECONCILE_SECONDS: '1' }
  gateway = await openGateway({ databaseUrl, env })
  rig = rigOf(databaseUrl, standIn, gateway, await createAccount(databaseUrl))
})

/** The database gets that statement and does not answer it. */
function silence(statement: string): { happened: () => Promise<unknown>; end: () => void } {
  const { pool } = gateway.app
  const { query } = pool
  let asked = 0
  pool.query = ((...of: Parameters<typeof query>) => {
    if ((of[0] as { name?: string }).name !== statement) return query.apply(pool, of)
    asked++
    return new Promise(() => {})
  }) as typeof query
  const end = () => {
    pool.query = query
  }
  return { happened: () => until(() => asked > 0), end }
}

it('a message that Meta took counts as taken, although nobody stores how Meta writes its number', async () => {
  const to = fresh()
  const phone = await rig.phone({ addresses: new Map([[to.slice(1), `${to.slice(1)}9`]]) })
  const database = silence('cloud.addresses.store')
  const id = await rig.send(phone.id, { to })
  await database.happened()
  expect(await rig.settled(id)).toMatchObject({ status: 'sending', error: null, providerMessageId: expect.any(String) })
  database.end()
})

it('a message whose file could not be looked up did not leave, and is sent later', async () => {
  const phone = await rig.phone()
  const pdf = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n')
  const { url: mediaUrl } = (await upload(gateway, rig.account.apiKey, pdf)).body.data
  const database = silence('cloud.uploaded')
  const id = await rig.send(phone.id, { type: 'document', mediaUrl })
  await database.happened()
  await until(async () => (await rig.row(id)).nextAttemptAt ?? (await rig.row(id)).error)
  database.end()
  expect(await rig.settled(id)).toMatchObject({ status: 'sending', error: null })
})
