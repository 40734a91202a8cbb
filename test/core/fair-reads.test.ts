// The reads of one account leave connections to the database for those of others.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

it('answers others while fourteen reads of one account wait for the database', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl })
  const [slow, other] = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const pool = sql(databaseUrl)
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query('lock table templates in access exclusive mode')
    const fields = Array.from({ length: 14 }, (_, i) => `t${i}: templates { id }`).join(' ')
    const slowly = api(gateway, slow.apiKey).graphql(`{ ${fields} }`)
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => ((await pool.query(waiting)).rowCount ?? 0) >= 3)
    const { body } = await api(gateway, other.apiKey).graphql('{ contacts { nodes { id } } }')
    expect(body).toEqual({ data: { contacts: { nodes: [] } } })
    expect((await pool.query(waiting)).rowCount).toBe(3)
    await holder.query('commit')
    expect(Object.values((await slowly).body.data)).toEqual(Array(14).fill([]))
  } finally {
    holder.release(true)
  }
})
