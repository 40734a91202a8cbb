// A claim of waiting deliveries costs what it claims, however many wait.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { claimWaiting } from '../../src/webhooks/claim.sql.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

it('claims the oldest deliveries without reading the others that wait', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const { workspaceId } = await createAccount(databaseUrl)
  const endpointId = randomUUID()
  await pool.query(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret) values ($1, $2, 'https://example.com', '{}', '')`,
    [endpointId, workspaceId],
  )
  await pool.query(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, payload, "nextAttemptAt")
     select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', json_build_object('n', n), now() - make_interval(secs => n)
     from generate_series(1, 3000) n`,
    [endpointId],
  )
  await pool.query('analyze webhook_deliveries')
  const { claimed, read } = await sqlTransaction(pool, async (tx) => {
    const claimed = await claimWaiting(tx, randomUUID(), [{ endpointId, most: 10 }])
    const { rows } = await tx.query<{ read: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'webhook_deliveries'`,
    )
    return { claimed, read: rows[0]?.read }
  })
  const numbers = claimed.map(({ body }) => JSON.parse(body).n as number)
  expect(numbers.sort((a, b) => b - a)).toEqual([3000, 2999, 2998, 2997, 2996, 2995, 2994, 2993, 2992, 2991])
  expect(read).toBeLessThan(200)
})
