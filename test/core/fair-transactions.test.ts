// The transactions of one account leave connections to the database for those of others.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

it('answers others while fourteen transactions of one account wait for a lock', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '1000' } })
  const [slow, other] = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const pool = sql(databaseUrl)
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query('lock table contacts in share row exclusive mode')
    const create = (n: number) =>
      api(gateway, slow.apiKey).graphql(
        `mutation { createContact(input: { name: "Ada", phone: "+49151100000${10 + n}" }) { name } }`,
      )
    const slowly = Array.from({ length: 14 }, (_, n) => create(n))
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => ((await pool.query(waiting)).rowCount ?? 0) >= 3)
    const { body } = await api(gateway, other.apiKey).graphql(
      'mutation { createTemplate(input: { name: "Hello", type: text, body: "Hello" }) { name } }',
    )
    expect(body).toEqual({ data: { createTemplate: { name: 'Hello' } } })
    expect((await pool.query(waiting)).rowCount).toBe(3)
    await holder.query('commit')
    for (const { body } of await Promise.all(slowly)) expect(body).toEqual({ data: { createContact: { name: 'Ada' } } })
  } finally {
    holder.release(true)
  }
})
