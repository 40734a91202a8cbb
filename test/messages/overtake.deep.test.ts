// Messages that somebody waits for leave before a crowd of scheduled ones.
import { expect, it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { spawnGateway } from '../kit/gateway.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

it('lets instant messages overtake hundreds of scheduled ones that are due', { timeout: 210_000 }, async () => {
  // No worker runs before all of them are due.
  const crowd = await cloneDatabase()
  const owner = await createAccount(crowd)
  const { id: instanceId } = await connectedInstance(crowd, owner)
  const entry = api(await openGateway({ databaseUrl: crowd, env: { ROLES: 'http' } }), owner.apiKey)
  const scheduledAt = new Date(Date.now() + 6_000).toISOString()
  const some = (count: number, more: object) =>
    Array.from({ length: count }, (_, i) => ({ instanceId, to: `+39333112${1000 + i}`, type: 'text', text: 'hello', ...more }))
  expect((await entry.post('messages/bulk', { messages: some(600, { scheduledAt }) })).body.data.accepted).toHaveLength(600)
  await until(async () => (await sql(crowd).query('select from messages where "dueAt" > now()')).rowCount === 0)
  expect((await entry.post('messages/bulk', { messages: some(10, { to: '+393331139999' }) })).body.data.accepted).toHaveLength(10)
  spawnGateway({ databaseUrl: crowd, env: { ROLES: 'worker,relay' } })
  // The order in which workers took the jobs; a worker takes up to a hundred at once.
  const order = await until(
    async () => {
      const { rows } = await sql(crowd).query<{ instant: boolean }>(
        `select m."scheduledAt" is null as instant from messages m
         join lateral (select min(started_on) as at from pgboss.job j where j.data->>'id' = m.id::text or j.data->'ids' ? m.id::text) taken on taken.at is not null
         where m."acceptedAt" is not null order by taken.at, instant`,
      )
      return rows.length === 610 && rows.map(({ instant }) => instant)
    },
    { timeoutMs: 150_000, everyMs: 50 },
  )
  console.log(`the first of 10 instant messages to one number was taken as number ${order.indexOf(true) + 1} of 610`)
  // Three workers take a hundred jobs each at the same time, with the instant ones among the first hundred.
  expect(order.indexOf(true)).toBeLessThan(300)
})
