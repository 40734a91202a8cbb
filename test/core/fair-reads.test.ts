// The reads of one account leave connections to the database for those of others.
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/database.ts'
import { transaction } from '../../src/core/database/transaction.ts'
import { codeOf } from '../../src/core/errors.ts'
import { Budget, wholeBudget, withBudget } from '../../src/core/graph/budget.ts'
import { newId } from '../../src/core/id.ts'
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

it('refuses reads and transactions of an account of which a thousand wait, as too many requests', async () => {
  const databaseUrl = await cloneDatabase()
  await using database = openDatabase(databaseUrl, () => {})
  const holder = await sql(databaseUrl).connect()
  try {
    await holder.query('begin')
    await holder.query('lock table templates in access exclusive mode')
    const { db } = database
    const waiting: Promise<PromiseSettledResult<number>[]>[] = []
    // Prisma runs a read only once it is awaited, which must happen on the budget.
    for (const read of [async () => await db.template.count(), () => transaction(db, (tx) => tx.db.template.count())]) {
      const payer = new Budget(wholeBudget, newId())
      const many = Promise.allSettled(Array.from({ length: 1_003 }, () => withBudget(payer, read)))
      const further = await withBudget(payer, read).catch((error: unknown) => error)
      expect(codeOf(further)).toBe('API_RATE_LIMIT_EXCEEDED')
      waiting.push(many)
    }
    await holder.query('commit')
    for (const all of waiting) expect((await all).map(({ status }) => status)).toEqual(Array(1_003).fill('fulfilled'))
  } finally {
    holder.release(true)
  }
})
