// SQL of the use of keys: when they were last used, and how many requests they made on each day.
import type { Sql } from '../../core/database/database.ts'

export interface KeyDay {
  keyId: string
  /** `YYYY-MM-DD`, UTC. */
  day: string
  /** Negative if more requests were taken back than made. */
  requests: number
}

/**
 * Stores when keys were used, and adds to the requests of their days. Rows of keys are locked in the order of their ids, and the days of a
 * key are written under the lock of its row, which prevents deadlocks between processes. The later of two times wins.
 */
export async function storeKeyUse(
  sql: Sql,
  uses: readonly (readonly [keyId: string, at: Date])[],
  days: readonly KeyDay[],
): Promise<void> {
  await sql.query(
    `with held as (
       select k.id, u.at from api_keys k join unnest($1::uuid[], $2::timestamptz[]) as u(id, at) on u.id = k.id
       order by k.id for no key update of k
     ), counted as (
       insert into api_key_days as d ("keyId", day, requests)
       select held.id, u.day, u.requests from held join unnest($3::uuid[], $4::date[], $5::int[]) as u(id, day, requests) on u.id = held.id
       where u.requests > 0 or exists (select from api_key_days e where e."keyId" = u.id and e.day = u.day)
       on conflict ("keyId", day) do update set requests = greatest(0, d.requests + excluded.requests)
     )
     update api_keys k set "lastUsedAt" = greatest(k."lastUsedAt", held.at) from held where held.id = k.id`,
    [
      uses.map(([id]) => id),
      uses.map(([, at]) => at),
      days.map(({ keyId }) => keyId),
      days.map(({ day }) => day),
      days.map(({ requests }) => requests),
    ],
  )
}

/** The last `last` days (UTC) of each of these keys, oldest first. Days without requests are zeros. */
export async function readKeyDays(sql: Sql, keyIds: readonly string[], last: number): Promise<KeyDay[]> {
  const { rows } = await sql.query<KeyDay>({
    name: 'accounts.keys.days',
    text: `select k.id as "keyId", g.day::text, coalesce(d.requests, 0) as requests
      from unnest($1::uuid[]) k(id)
      cross join (select (now() at time zone 'utc')::date - i as day from generate_series(0, $2::int - 1) i) g
      left join api_key_days d on d."keyId" = k.id and d.day = g.day
      order by k.id, g.day`,
    values: [keyIds, last],
  })
  return rows
}

/** The requests of all keys, also revoked ones, of the workspaces that an owner pays for, on those of the days that had some. */
export async function readRequests(sql: Sql, ownerId: string, days: readonly string[]): Promise<Omit<KeyDay, 'keyId'>[]> {
  const { rows } = await sql.query<Omit<KeyDay, 'keyId'>>({
    name: 'accounts.keys.requests',
    text: `select d.day::text, sum(d.requests)::int as requests
      from workspaces w join api_keys k on k."workspaceId" = w.id join api_key_days d on d."keyId" = k.id
      where w."ownerId" = $1 and d.day = any($2::date[]) group by d.day`,
    values: [ownerId, days],
  })
  return rows
}
