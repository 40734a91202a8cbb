// SQL of deliveries on request. Their times are those of the database, by which claims decide what is due.
import type { Sql } from '../core/database/database.ts'
import type { WebhookDelivery } from '../generated/prisma/client.ts'

/** Seconds until fewer than `most` tests were made in the last minute; null if that is so now. Exact while the endpoint is locked. */
export async function secondsUntilTest(tx: Sql, endpointId: string, most: number): Promise<number | null> {
  const { rows } = await tx.query<{ seconds: number }>(
    `select ceil(extract(epoch from "createdAt" + interval '1 minute' - now()))::int as seconds from webhook_deliveries
     where "endpointId" = $1 and "eventSeq" is null and "createdAt" > now() - interval '1 minute'
     order by "createdAt" desc offset $2 limit 1`,
    [endpointId, most - 1],
  )
  return rows[0]?.seconds ?? null
}

interface TestDelivery {
  id: string
  endpointId: string
  eventId: string
  type: string
  payload: unknown
}

/** Inserts a delivery with a payload of its own, which is due at once and attempted once. */
export async function insertTest(tx: Sql, { id, endpointId, eventId, type, payload }: TestDelivery): Promise<WebhookDelivery> {
  const { rows } = await tx.query<WebhookDelivery>(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, payload, "attemptsLeft", "byHand", "nextAttemptAt")
     values ($1, $2, $3, $4, $5, 0, true, now()) returning *`,
    [id, endpointId, eventId, type, JSON.stringify(payload)],
  )
  return rows[0] as WebhookDelivery
}

/**
 * Makes a delivery due by hand; undefined if an attempt holds its lease. An attempt whose lease is over loses it, so that its
 * late outcome changes nothing.
 */
export async function makeDue(tx: Sql, id: string): Promise<WebhookDelivery | undefined> {
  const { rows } = await tx.query<WebhookDelivery>(
    `update webhook_deliveries set "byHand" = true, "nextAttemptAt" = now(), "leaseToken" = null, "leaseUntil" = null,
       status = case when "attemptsLeft" > 0 then status else 'pending' end
     where id = $1 and ("leaseUntil" is null or "leaseUntil" <= now()) returning *`,
    [id],
  )
  return rows[0]
}
