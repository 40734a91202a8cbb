// The sweep of deliveries costs little beside very many that are attempted later.
import { expect, it } from 'vitest'
import type { Sql } from '../../src/core/database/database.ts'
import { findOverdue } from '../../src/webhooks/sweep.sql.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { openRig } from './rig.ts'

const endpoints = 500
const ofEach = 20

it('reads one row of each endpoint whose deliveries are all attempted later, not all of its deliveries', async () => {
  const { app, account } = await openRig({ working: false })
  const { pool } = app
  await pool.query(
    `with endpoint as (
       insert into webhook_endpoints (id, "workspaceId", url, events, secret, "updatedAt")
       select gen_random_uuid(), $1, 'https://example.com', '{}', '', now() from generate_series(1, $2::int) returning id
     ) insert into webhook_deliveries (id, "endpointId", "eventId", type, status, "nextAttemptAt")
       select gen_random_uuid(), id, gen_random_uuid(), 'message.sent', 'retrying', now() + n * interval '1 hour'
       from endpoint, generate_series(1, $3::int) n`,
    [account.workspaceId, endpoints, ofEach],
  )
  await pool.query('vacuum analyze webhook_deliveries, webhook_endpoints')
  const statements: { text: string; values: unknown[] }[] = []
  const recorder = { query: async (query: (typeof statements)[number]) => statements.push(query) && { rows: [{}] } }
  await findOverdue(recorder as unknown as Sql)
  expect(await rowsRead(pool, statements)).toBeLessThan(3 * endpoints)
})
