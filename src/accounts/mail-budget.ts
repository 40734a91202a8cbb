// How many mails an address gets: a bound for each kind, whoever asks for them, counted over all processes.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Sql } from '../core/database.ts'
import type { MailOrder } from './mail-texts.ts'

/**
 * Most of one kind in an hour and in a day. Whoever is past a bound has as many working links in the mailbox already. Those of a reset
 * hold no longer than the hour, so it has no bound of the day: who used that up for somebody else would lock them out.
 */
const budgets: Record<MailOrder['kind'], { hour: number; day: number }> = {
  verify: { hour: 5, day: 20 },
  known: { hour: 5, day: 20 },
  reset: { hour: 5, day: 24 * 5 },
  invitation: { hour: 5, day: 20 },
}

/** Kept where failed logins are, under digests of their own. */
function hashOf({ kind, to }: MailOrder): Buffer {
  return createHash('sha256').update(`mail\n${kind}\n${to.toLowerCase()}`).digest()
}

/**
 * Takes one of the address's mails of that kind, in the caller's transaction, whose last lock it is. Null where it may be sent, else the
 * seconds until the next may.
 */
export async function takeMail(tx: Sql, order: MailOrder): Promise<number | null> {
  const { hour, day } = budgets[order.kind]
  const recent = `(select coalesce(array_agg(t order by t), '{}') from unnest(f.at) t where t > now() - interval '1 day')`
  const inHour = `(select count(*) from unnest(f.at) t where t > now() - interval '1 hour')`
  const { rowCount } = await tx.query(
    `insert into login_failures as f ("emailHash", at) values ($1, array[now()])
      on conflict ("emailHash") do update set at = ${recent} || now(), "updatedAt" = now()
      where cardinality(${recent}) < $3 and ${inHour} < $2`,
    [hashOf(order), hour, day],
  )
  if (rowCount) return null
  // The bound holds until as many are over as to leave one less than it.
  const { rows } = await tx.query<{ seconds: number }>(
    `select ceil(extract(epoch from greatest(
        (select t + interval '1 hour' from unnest(f.at) t order by t desc offset $2 - 1 limit 1),
        (select t + interval '1 day' from unnest(f.at) t order by t desc offset $3 - 1 limit 1)) - now()))::int as seconds
      from login_failures f where f."emailHash" = $1`,
    [hashOf(order), hour, day],
  )
  return Math.max(1, rows[0]?.seconds ?? 1)
}

/** Mails and failed logins that are too old to count. */
export async function pruneCounts(pool: pg.Pool): Promise<void> {
  await pool.query(`delete from login_failures where "updatedAt" < now() - interval '1 day'`)
}
