// SQL of the monthly quotas. Rows of `usage` are locked in the order of their primary key, which prevents deadlocks.
import type { Sql } from '../../core/database/database.ts'
import { thisMonth } from './period.ts'

/** The time at which this is evaluated, which is after the lock of an upsert. Rounding would reach into the future. */
const clock = `date_trunc('milliseconds', clock_timestamp())`

/**
 * Takes quota of the current month, for each owner as much of `wanted` as fits below `quota`. `used` is the count afterwards. Owners must
 * be sorted by their ids. One upsert: the row lock makes it exact across all processes. `at` is when the owner's row was locked: the
 * transactions of one owner commit in the order of these times, which differ by a millisecond at least.
 */
export async function takeQuota(
  tx: Sql,
  owners: readonly { ownerId: string; quota: number; wanted: number }[],
): Promise<{ userId: string; granted: number; used: number; at: Date }[]> {
  const { rows } = await tx.query<{ userId: string; granted: number; used: number; at: Date }>({
    name: 'billing.take-quota',
    text: `with wanted as (select * from unnest($1::uuid[], $2::int[], $3::int[]) as a(id, quota, n))
      insert into usage as u ("userId", period, "messagesCount", granted, "acceptedAt")
      select id, ${thisMonth}, least(n, quota), least(n, quota), ${clock} from wanted order by id
      on conflict ("userId", period) do update set ("messagesCount", granted) = (
        select u."messagesCount" + g.n, g.n
        from (select greatest(0, least(a.n, a.quota - u."messagesCount" - u."statusesCount")) as n from wanted a where a.id = excluded."userId") g
      ), "acceptedAt" = greatest(${clock}, u."acceptedAt" + interval '1 millisecond')
      returning "userId", granted, "messagesCount" + "statusesCount" as used, "acceptedAt" as at`,
    values: [owners.map(({ ownerId }) => ownerId), owners.map(({ quota }) => quota), owners.map(({ wanted }) => wanted)],
  })
  return rows
}

/** How much of the current month's quota an owner has used. */
export async function usedQuota(sql: Sql, ownerId: string): Promise<number> {
  const { rows } = await sql.query<{ used: number }>({
    name: 'billing.used-quota',
    text: `select "messagesCount" + "statusesCount" as used from usage where "userId" = $1 and period = ${thisMonth}`,
    values: [ownerId],
  })
  return rows[0]?.used ?? 0
}

/** Subtracts `n` messages from the count of a month. */
export async function giveBackQuota(tx: Sql, taken: readonly { ownerId: string; period: string; n: number }[]): Promise<void> {
  await tx.query(
    `with back as (select * from unnest($1::uuid[], $2::date[], $3::int[]) as b(id, period, n)), held as materialized (
       select u."userId", u.period, back.n from usage u join back on u."userId" = back.id and u.period = back.period
       order by u."userId", u.period for update of u
     )
     update usage u set "messagesCount" = u."messagesCount" - held.n from held where u."userId" = held."userId" and u.period = held.period`,
    [taken.map(({ ownerId }) => ownerId), taken.map(({ period }) => period), taken.map(({ n }) => n)],
  )
}

/** How many messages and recipients an owner has scheduled in the current month. */
export async function plannedCount(sql: Sql, ownerId: string): Promise<number> {
  const { rows } = await sql.query<{ planned: number }>(
    `select "plannedCount" as planned from usage where "userId" = $1 and period = ${thisMonth}`,
    [ownerId],
  )
  return rows[0]?.planned ?? 0
}

/** {@link plannedCount}, with the row locked; creates the row if it is missing. */
export async function lockPlanned(tx: Sql, ownerId: string): Promise<number> {
  const { rows } = await tx.query<{ planned: number }>(
    `insert into usage as u ("userId", period) values ($1, ${thisMonth})
     on conflict ("userId", period) do update set "plannedCount" = u."plannedCount" returning "plannedCount" as planned`,
    [ownerId],
  )
  return rows[0]?.planned ?? 0
}

/** Adds to the count of a row that {@link lockPlanned} has locked. */
export async function addPlanned(tx: Sql, ownerId: string, n: number): Promise<void> {
  await tx.query(`update usage set "plannedCount" = "plannedCount" + $2 where "userId" = $1 and period = ${thisMonth}`, [
    ownerId,
    n,
  ])
}

export interface MonthUsage {
  messagesCount: number
  statusesCount: number
  apiRequestsCount: number
  periodStart: Date
  periodEnd: Date
}

/** Usage of the current month, by the clock of the database; zeros if nothing was counted yet. */
export async function usageNow(sql: Sql, ownerId: string): Promise<MonthUsage> {
  const { rows } = await sql.query<MonthUsage>(
    `select coalesce(u."messagesCount", 0) as "messagesCount", coalesce(u."statusesCount", 0) as "statusesCount",
       coalesce(a."apiRequestsCount", 0) as "apiRequestsCount", m.start as "periodStart", m.start + interval '1 month' as "periodEnd"
     from (select ${thisMonth} as period, date_trunc('month', now() at time zone 'utc') at time zone 'utc' as start) m
     left join usage u on u."userId" = $1 and u.period = m.period
     left join api_usage a on a."userId" = $1 and a.period = m.period`,
    [ownerId],
  )
  return rows[0] as MonthUsage
}
