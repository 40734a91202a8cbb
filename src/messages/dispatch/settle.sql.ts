// SQL of send outcomes. Each statement writes only while the lease of the attempt still holds (fencing token).
import { arrayOf } from '../../core/database/array-parameter.ts'
import type { Sql } from '../../core/database/database.ts'
import type { Dispatchable } from './dispatch-job.ts'

interface Leased {
  id: string
  token: string
}

/** Stores that the provider accepted these messages. Returns how many still had their lease. */
export async function storeAccepted(tx: Sql, accepted: readonly (Leased & { providerMessageId: string })[]): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'messages.settle.accept',
    text: `update messages m set "acceptedAt" = coalesce(m."acceptedAt", now()), "providerMessageId" = a.provider, "leaseToken" = null, "leaseUntil" = null
      from unnest(${arrayOf('$1', 'uuid')}, $2::uuid[], $3::text[]) as a(id, token, provider) where m.id = a.id and m."leaseToken" = a.token`,
    values: [
      accepted.map(({ id }) => id),
      accepted.map(({ token }) => token),
      accepted.map(({ providerMessageId }) => providerMessageId),
    ],
  })
  return rowCount ?? 0
}

export interface Released extends Dispatchable {
  contactId: string | null
  nextAttemptAt: Date
}

/**
 * Releases leases and stores the times of the next attempts. A message that no attempt may have brought to the network loses its `handedAt`.
 * Returns the messages that still had their lease.
 */
export async function releaseLeases(
  tx: Sql,
  retries: readonly (Leased & { delayMs: number; mayHaveLeft: boolean; counts: boolean })[],
): Promise<Released[]> {
  const { rows } = await tx.query<Released>(
    `update messages m set "leaseToken" = null, "leaseUntil" = null, "nextAttemptAt" = clock_timestamp() + r.ms * interval '1 millisecond',
       "handedAt" = case when r."left" then m."handedAt" end, attempts = m.attempts - case when r.counts then 0 else 1 end
     from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::boolean[], $5::boolean[]) as r(id, token, ms, "left", counts)
     where m.id = r.id and m."leaseToken" = r.token and m.status = 'sending' and m."acceptedAt" is null
     returning m.id, m."scheduledAt", m."campaignId", m."contactId", m."nextAttemptAt"`,
    [
      retries.map(({ id }) => id),
      retries.map(({ token }) => token),
      retries.map(({ delayMs }) => delayMs),
      retries.map(({ mayHaveLeft }) => mayHaveLeft),
      retries.map(({ counts }) => counts),
    ],
  )
  return rows
}

/** Locks messages in the order of their ids. The locks wait for claims whose transaction has not ended. */
export async function lockClaims(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.query('select from messages where id = any($1::uuid[]) order by id for update', [ids])
}

/** The messages that have a lease and that no provider has accepted. */
export async function readLeased(tx: Sql, ids: readonly string[]): Promise<(Dispatchable & { leaseUntil: Date })[]> {
  const { rows } = await tx.query<Dispatchable & { leaseUntil: Date }>(
    `select id, "scheduledAt", "campaignId", "leaseUntil" from messages
     where id = any($1::uuid[]) and "leaseUntil" is not null and "acceptedAt" is null`,
    [ids],
  )
  return rows
}
