// The rate windows of keys and people who are gone do not stay in the database.
import { expect, it } from 'vitest'
import { takeFromWindows } from '../../src/billing/admission/rate-window.sql.ts'
import { pruneBilling } from '../../src/billing/jobs.ts'
import { newId } from '../../src/core/id.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

it('deletes those without a request for an hour, keeps the others, and waits for none', async () => {
  const pool = sql(await cloneDatabase())
  const [gone, used, locked] = [newId(), newId(), newId()]
  await takeFromWindows(pool, [gone, gone, used, locked], 10, 10)
  const age = 'update rate_windows set at = array(select t - 3700000 from unnest(at) t) where "keyId" = any($1::uuid[])'
  await pool.query(age, [[gone, used, locked]])
  await takeFromWindows(pool, [used], 10, 10)
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query('select from rate_windows where "keyId" = $1 for update', [locked])
    expect(await pruneBilling.prune({ pool, stopping: false, log: { info() {} } } as never)).toBe(1)
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  const { rows } = await pool.query<{ id: string }>('select "keyId" as id from rate_windows')
  expect(rows.map(({ id }) => id).sort()).toEqual([used, locked].sort())
  expect(await takeFromWindows(pool, [gone], 10, 10)).toEqual(new Map([[gone, 1]]))
})
