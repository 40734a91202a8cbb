// The pace of a campaign when its process is killed: nobody is left out or written to twice, and nothing is made up for.
import { expect, it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { campaignTo, expectCreated, expectEven, expectOnceEach, numbers, reach } from './rig.ts'

it('holds after kill -9 in the middle of a page', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const phone = await connectedInstance(databaseUrl, account)
  const doomed = await startGateway({ databaseUrl, env: { FAILPOINT: 'campaign.mid_page:3=kill' } })
  const to = numbers(9)
  const body = campaignTo(phone.id, to, { ratePerMinute: 120 })
  const id = expectCreated(await api(doomed, account.apiKey).post('campaigns', body))
  expect(await doomed.exited).toMatchObject({ signal: 'SIGKILL' })
  const next = api(await startGateway({ databaseUrl }), account.apiKey)
  await reach(next, id, 'completed', 60_000)
  await expectOnceEach(databaseUrl, id, to)
  await expectEven(databaseUrl, id, 500)
  // After the crash it goes on from then, one by one, although many would have been due.
  const { rows } = await sql(databaseUrl).query<{ at: Date }>(
    'select "createdAt" as at from messages where "campaignId" = $1 order by "createdAt"',
    [id],
  )
  const gaps = rows.slice(1).map(({ at }, i) => at.getTime() - (rows[i] as { at: Date }).at.getTime())
  const crash = gaps.indexOf(Math.max(...gaps))
  const resumed = (rows[crash + 1] as { at: Date }).at.getTime()
  expect(rows.slice(crash + 1).every(({ at }, i) => at.getTime() >= resumed + i * 500 - 1)).toBe(true)
})
