// The plans of statements that are prepared while a table is empty, and kept while it grows.
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/core/database/database.ts'
import { cloneDatabase } from '../kit/database.ts'

it('an update by ids finds its rows by the primary key', async () => {
  await using database = openDatabase(await cloneDatabase(), () => {}, { max: 1 })
  const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
    `explain (generic_plan) update messages m set "updatedAt" = now() from unnest($1::uuid[]) as c(id) where m.id = c.id`,
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toContain('messages_pkey')
  expect(plan).not.toContain('Seq Scan')
})
