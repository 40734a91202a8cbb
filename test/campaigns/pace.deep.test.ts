// The pace of a campaign that three processes could send: one rate for all of them, and each recipient once.
import { it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { campaignTo, expectCreated, expectEven, expectOnceEach, numbers, reach } from './rig.ts'

it('holds over three processes, one of which is killed in the middle', { timeout: 120_000 }, async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const phone = await connectedInstance(databaseUrl, account)
  const gateways = await Promise.all([1, 2, 3].map(() => startGateway({ databaseUrl })))
  const to = numbers(40)
  const body = campaignTo(phone.id, to, { ratePerMinute: 120 })
  const [first, , third] = gateways as [(typeof gateways)[0], unknown, (typeof gateways)[0]]
  const id = expectCreated(await api(first, account.apiKey).post('campaigns', body))
  const client = api(third, account.apiKey)
  const count = async () => (await sql(databaseUrl).query('select from messages where "campaignId" = $1', [id])).rowCount
  await until(async () => ((await count()) ?? 0) >= 15)
  first.kill('SIGKILL')
  await reach(client, id, 'completed', 90_000)
  await expectOnceEach(databaseUrl, id, to)
  await expectEven(databaseUrl, id, 500)
})
