// SQL of the sessions: the state that the gateway wants for each connection.
import type { Sql } from '../../core/database/database.ts'

/** Longest time, in hours, that a removed device's credentials are kept while the network is away. */
const removalHours = 24

/**
 * Wants a connection. Creates the session on first use. A removal that is pending goes on. Returns the end of a ban, if the account is
 * banned: no attempt is made before.
 */
export async function wantOpen(tx: Sql, instanceId: string, phone: string | null): Promise<Date | null> {
  const { rows } = await tx.query<{ bannedUntil: Date | null }>(
    `insert into web_sessions ("instanceId", open, phone) values ($1, true, $2)
     on conflict ("instanceId") do update set open = true, phone = excluded.phone
     returning case when "retryAt" > now() then "retryAt" end as "bannedUntil"`,
    [instanceId, phone],
  )
  return rows[0]?.bannedUntil ?? null
}

/** Wants a code for this number on a connection that is wanted already. Returns false if that is so, or none is wanted. */
export async function wantCode(tx: Sql, instanceId: string, phone: string): Promise<boolean> {
  const text = 'update web_sessions set phone = $2 where "instanceId" = $1 and open and phone is distinct from $2'
  const { rowCount } = await tx.query(text, [instanceId, phone])
  return Boolean(rowCount)
}

/** Locks a session before its lease, as a claim does: in another order, the two could deadlock. */
export async function lockWebSession(tx: Sql, instanceId: string): Promise<void> {
  await tx.query('select from web_sessions where "instanceId" = $1 for no key update', [instanceId])
}

/**
 * Wants no connection any more. With `removal`, the sealed credentials, the device is to be removed from the account; the removal of an
 * earlier device that is still pending goes on. The next device may belong to another account, so it does not wait for the end of a ban.
 */
export async function wantClosed(tx: Sql, instanceId: string, removal?: Buffer): Promise<void> {
  await tx.query(
    `with earlier as (
       insert into web_removals ("instanceId", creds, until)
       select "instanceId", removal, "removalUntil" from web_sessions where "instanceId" = $1 and removal is not null and $2::bytea is not null
     )
     update web_sessions set open = false, phone = null, "retryAt" = null, removal = coalesce($2, removal),
       "removalUntil" = case when $2::bytea is null then "removalUntil" else now() + interval '${removalHours} hours' end
     where "instanceId" = $1`,
    [instanceId, removal ?? null],
  )
}

/** Forgets the credentials of a removed device; those of a later one stay. */
export async function endRemoval(sql: Sql, instanceId: string, removal: Buffer): Promise<void> {
  const text = `with earlier as (delete from web_removals where "instanceId" = $1 and creds = $2)
    update web_sessions set removal = null, "removalUntil" = null where "instanceId" = $1 and removal = $2`
  await sql.query(text, [instanceId, removal])
}

/** No attempt for so long, because the account is banned. */
export async function wait(tx: Sql, instanceId: string, ms: number): Promise<void> {
  const text = `update web_sessions set "retryAt" = now() + $2 * interval '1 millisecond' where "instanceId" = $1`
  await tx.query(text, [instanceId, ms])
}

export interface WantedSession {
  open: boolean
  phone: string | null
  /** Milliseconds without an attempt; 0 or less if one may be made now. */
  waitMs: number
  /** The devices that are to be removed: each with its sealed credentials, and the milliseconds until the time for it is over. */
  removals: { creds: Buffer; leftMs: number }[]
}

interface SessionRow extends Omit<WantedSession, 'removals'> {
  creds: Buffer | null
  leftMs: number
}

export async function readSession(sql: Sql, instanceId: string): Promise<WantedSession | undefined> {
  const { rows } = await sql.query<SessionRow>({
    name: 'web.session',
    text: `select s.open, s.phone, coalesce(extract(epoch from s."retryAt" - now()) * 1000, 0)::float8 as "waitMs", r.creds,
        coalesce(extract(epoch from r.until - now()) * 1000, 0)::float8 as "leftMs"
      from web_sessions s left join lateral (
        select s.removal as creds, s."removalUntil" as until where s.removal is not null
        union all select creds, until from web_removals w where w."instanceId" = s."instanceId"
      ) r on true
      where s."instanceId" = $1`,
    values: [instanceId],
  })
  const [first] = rows
  if (!first) return undefined
  const removals = rows.flatMap(({ creds, leftMs }) => (creds ? [{ creds, leftMs }] : []))
  return { open: first.open, phone: first.phone, waitMs: first.waitMs, removals }
}

/** Notes a refusal with code 463. Returns the number of the last 24 hours. */
export async function noteRefusal(tx: Sql, instanceId: string): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(
    `update web_sessions set refusals = array(select r from unnest(refusals) r where r > now() - interval '24 hours') || now()::timestamptz(3)
     where "instanceId" = $1 returning cardinality(refusals) as n`,
    [instanceId],
  )
  return rows[0]?.n ?? 1
}
