// Endpoints that end together, with very many deliveries, hold up the outcomes of other deliveries only shortly.
import { expect, it } from 'vitest'
import type { Settlement } from '../../src/webhooks/settle.sql.ts'
import { settleDeliveries } from '../../src/webhooks/settle.ts'
import { closeStranded } from '../../src/webhooks/sweep.sql.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openRig } from './rig.ts'

const url = 'https://example.com/'

/** The outcome of an attempt at the delivery that has the id of its endpoint. */
function gone(endpointId: string): Settlement {
  const delivery = { id: endpointId, endpointId, eventId: endpointId, token: endpointId, url, attempt: 1, attemptsLeft: 4 }
  const verdict = { delivered: false, responseCode: 410, error: 'http_410', gone: true }
  return { delivery, verdict, at: new Date(), durationMs: 1, answer: null, headers: null } as unknown as Settlement
}

it('cancels 2,000 deliveries of the endpoints that answer 410 at once, and leaves the others to the sweep', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, account } = await openRig({ databaseUrl, working: false })
  const pool = sql(databaseUrl)
  const { rows } = await pool.query<{ id: string }>(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret, "updatedAt")
     select gen_random_uuid(), $1, $2, '{message.sent}', '', now() from generate_series(1, 3) returning id`,
    [account.workspaceId, url],
  )
  const ids = rows.map(({ id }) => id)
  await pool.query(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, "nextAttemptAt")
     select gen_random_uuid(), id, gen_random_uuid(), 'message.sent', now() from unnest($1::uuid[]) id, generate_series(1, 1100)`,
    [ids],
  )
  await pool.query(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, "nextAttemptAt", attempts, "leaseToken", "leaseUntil")
     select id, id, id, 'message.sent', now(), 1, id, now() + interval '1 minute' from unnest($1::uuid[]) id`,
    [ids],
  )
  const open = async () => (await pool.query(`select from webhook_deliveries where status = 'pending'`)).rowCount
  await settleDeliveries(app, ids.map(gone))
  expect(await open()).toBe(1_300)
  expect((await pool.query(`select from webhook_endpoints where "disabledReason" = 'gone'`)).rowCount).toBe(3)
  await closeStranded(app.pool, ids)
  expect(await open()).toBe(0)
})
