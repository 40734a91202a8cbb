// The sweep of ended holds locks them in the order of their keys, as everything else does.
import { expect, it } from 'vitest'
import { deleteEnded, storeHolds } from '../../src/messages/dispatch/holds.sql.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'

const keys = ['a', 'b', 'c']

it('ended holds are deleted while networks ask to wait again, without a deadlock, and those that were extended stay', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  // The table has them in the opposite order.
  for (const key of keys.toReversed())
    await pool.query(`insert into send_holds (key, until) values ($1, now() - interval '1 hour')`, [key])
  const extended = keys.map((key) => ({ key, ms: 60_000 }))
  await whileHeld(
    databaseUrl,
    [`select from send_holds where key = 'b' for update`],
    [() => storeHolds(pool, extended), () => deleteEnded(pool)],
  )
  expect((await pool.query('select from send_holds where until > now()')).rowCount).toBe(keys.length)
})
