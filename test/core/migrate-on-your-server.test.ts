// Proves that migrations are applied on a server that others have set up.
import { expect, it } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { sql } from '../kit/database.ts'
import { emptyDatabase } from '../kit/old-database.ts'

it('migrations find the extension for searches in any schema, and create no other object there', async () => {
  const url = await emptyDatabase()
  await sql(url).query('create schema "All extensions"; create extension pg_trgm schema "All extensions"')
  await migrate(url)
  const { rows } = await sql(url).query(
    `select relnamespace::regnamespace::text as schema from pg_class where relname in ('contacts', 'contacts_searchText_idx')`,
  )
  expect(rows).toEqual([{ schema: 'public' }, { schema: 'public' }])
})
