// The relay and the sweep, which serve all accounts, do not read the endpoints that a workspace has deleted.
import { expect, it } from 'vitest'
import type { Sql } from '../../src/core/database/database.ts'
import { newId } from '../../src/core/id.ts'
import { readEnabled } from '../../src/webhooks/deliveries.sql.ts'
import { findOverdue } from '../../src/webhooks/sweep.sql.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'

/** A workspace that has one endpoint, and has deleted 20,000. `readBy` counts the rows that a statement reads. */
async function openDeleted() {
  const databaseUrl = await cloneDatabase()
  const { workspaceId } = await createAccount(databaseUrl)
  const pool = sql(databaseUrl)
  const id = newId()
  await pool.query(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret, "deletedAt", "updatedAt")
     select case i when 0 then $1 else gen_random_uuid() end, $2, 'https://example.com/', '{message.sent}', '',
       case when i > 0 then now() end, now()
     from generate_series(0, 20000) i`,
    [id, workspaceId],
  )
  await pool.query('analyze webhook_endpoints')
  const readBy = async (run: (sql: Sql) => Promise<unknown>) => {
    const statements: { text: string; values?: unknown[] }[] = []
    const recorder = { query: async (query: (typeof statements)[number]) => statements.push(query) && { rows: [{}] } }
    await run(recorder as unknown as Sql)
    expect(statements).toHaveLength(1)
    return await rowsRead(pool, statements)
  }
  return { pool, workspaceId, id, readBy }
}

it('the relay reads the endpoints that a workspace has, not 20,000 that it has deleted', async () => {
  const { pool, workspaceId, id, readBy } = await openDeleted()
  expect(await readBy((one) => readEnabled(one, [workspaceId]))).toBeLessThan(10)
  expect(await readEnabled(pool, [workspaceId])).toEqual([{ id, workspaceId, events: ['message.sent'] }])
})

it('the sweep reads the endpoints with open deliveries, not 20,000 that were deleted', async () => {
  const { pool, id, readBy } = await openDeleted()
  await pool.query(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, "nextAttemptAt")
     select gen_random_uuid(), e.id, gen_random_uuid(), 'message.sent', now() + interval '1 hour' from (
       select id from webhook_endpoints where "deletedAt" is not null limit 1
     ) e union all values (gen_random_uuid(), $1::uuid, gen_random_uuid(), 'message.sent', now() + interval '1 hour')`,
    [id],
  )
  await pool.query('analyze webhook_deliveries')
  expect(await readBy(findOverdue)).toBeLessThan(20)
  const { endpointIds } = await findOverdue(pool)
  expect(endpointIds).toHaveLength(1)
  expect(endpointIds).not.toContain(id)
})
