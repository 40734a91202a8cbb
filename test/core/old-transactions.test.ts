// Operators learn of a transaction that keeps PostgreSQL from removing dead rows.
import { expect, it } from 'vitest'
import { withConnection } from '../../src/core/database/database.ts'
import { readOldestTransaction } from '../../src/core/database/old-transactions.sql.ts'
import { checkOldest } from '../../src/core/database/old-transactions.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

it('the oldest transaction with a snapshot or a change is found, and one without either is not', async () => {
  const pool = sql(await cloneDatabase())
  await withConnection(pool, async (holder) => {
    await holder.query(`set application_name = 'an analyst'; begin isolation level repeatable read`)
    expect(await readOldestTransaction(pool)).toBeUndefined()
    await holder.query('select 1')
    const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid')
    const oldest = await readOldestTransaction(pool)
    expect(oldest).toEqual({ holder: `an analyst (process ${rows[0]?.pid})`, seconds: expect.any(Number) })
    expect(oldest?.seconds).toBeGreaterThanOrEqual(0)
    await holder.query('rollback; reset application_name')
  })
  expect(await readOldestTransaction(pool)).toBeUndefined()
})

it('a transaction that has been open for a quarter of an hour is a fault, with advice', () => {
  expect(checkOldest(undefined)).toBe('none has been open for 15 minutes')
  expect(checkOldest({ holder: 'pg_dump (process 7)', seconds: 899 })).toBe('none has been open for 15 minutes')
  expect(() => checkOldest({ holder: 'pg_dump (process 7)', seconds: 1_860 })).toThrow(
    'pg_dump (process 7) has been open for 31 minutes: PostgreSQL removes no dead rows meanwhile, and the gateway gets slower by the minute; end it, or let it read a replica',
  )
})
