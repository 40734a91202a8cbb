// A claim of waiting deliveries costs what it claims, however many wait. Leases are renewed beside outcomes that are being written.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { claimByIds, claimWaiting, renewLeases } from '../../src/webhooks/claim.sql.ts'
import { leaseMs } from '../../src/webhooks/policy.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

/** An endpoint with `count` deliveries that are due, the first ones last. */
async function due(count: number) {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const { workspaceId } = await createAccount(databaseUrl)
  const endpointId = randomUUID()
  await pool.query(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret) values ($1, $2, 'https://example.com', '{}', '')`,
    [endpointId, workspaceId],
  )
  const { rows } = await pool.query<{ id: string }>(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, payload, "nextAttemptAt")
     select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', json_build_object('n', n), now() - make_interval(secs => n)
     from generate_series(1, $2::int) n returning id`,
    [endpointId, count],
  )
  await pool.query('analyze webhook_deliveries')
  return { pool, endpointId, ids: rows.map(({ id }) => id) }
}

it('claims the oldest deliveries without reading the others that wait', async () => {
  const { pool, endpointId } = await due(3000)
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

it('renews the other leases while an outcome is being written, without waiting for it', async () => {
  const { pool, ids } = await due(2)
  const token = randomUUID()
  await claimByIds(pool, token, ids)
  const leases = async () => {
    const { rows } = await pool.query<{ until: Date }>(
      'select "leaseUntil" as until from webhook_deliveries where id = any($1::uuid[]) order by array_position($1, id)',
      [ids],
    )
    return rows.map(({ until }) => until.getTime())
  }
  await pool.query('update webhook_deliveries set "leaseUntil" = now()')
  const [written, other] = await leases()
  await sqlTransaction(pool, async (tx) => {
    await tx.query('update webhook_deliveries set "responseCode" = 200 where id = $1', [ids[0]])
    await renewLeases(
      pool,
      ids.map((id) => ({ id, token })),
    )
  })
  const after = await leases()
  expect(after[0]).toBe(written)
  expect(after[1]).toBeGreaterThan((other as number) + leaseMs / 2)
})
