// SQL of the monthly quotas, which are those of a billing period. Rows of `usage` are locked in the order of their primary key, which prevents deadlocks.
import { arrayOf } from '../../core/database/array-parameter.ts'
import type { Sql } from '../../core/database/database.ts'
import { periodEndSql, periodOfUserSql, periodSql, periodStartSql } from './period.ts'

const present = periodOfUserSql('$1')

export interface Taken {
  userId: string
  /** `YYYY-MM-DD`. */
  period: string
  granted: number
  used: number
  at: Date
  /** True if a change of plan has just carried this count into another period. Nothing was taken then. */
  carried: boolean
}

/** The time at which this is evaluated, which is after the lock of an upsert. Rounding would reach into the future. */
const clock = `date_trunc('milliseconds', clock_timestamp())`

/**
 * Takes quota of the current billing period, for each owner as much of `wanted` as fits below `quota`. `used` is the count afterwards.
 * Owners must be sorted by their ids. One upsert: the row lock makes it exact across all processes. `evenCarried` also takes from a count
 * that was carried on. `at` is when the owner's row was locked: the transactions of one owner commit in the order of these times, which
 * differ by a millisecond at least.
 */
export async function takeQuota(
  tx: Sql,
  owners: readonly { ownerId: string; quota: number; wanted: number }[],
  evenCarried: boolean,
): Promise<Taken[]> {
  const { rows } = await tx.query<Taken>({
    name: 'billing.take-quota',
    text: `with wanted as (
        select a.id, a.quota, a.n, ${periodOfUserSql('a.id')} as period from unnest(${arrayOf('$1', 'uuid')}, $2::int[], $3::int[]) as a(id, quota, n)
      )
      insert into usage as u ("userId", period, "messagesCount", granted, "acceptedAt")
      select id, period, least(n, quota), least(n, quota), ${clock} from wanted order by id
      on conflict ("userId", period) do update set ("messagesCount", granted) = (
        select u."messagesCount" + g.n, g.n
        from (
          select case when u."carriedInto" is null or $4 then greatest(0, least(a.n, a.quota - u."messagesCount" - u."statusesCount")) else 0 end as n
          from wanted a where a.id = excluded."userId"
        ) g
      ), "acceptedAt" = greatest(${clock}, u."acceptedAt" + interval '1 millisecond')
      returning "userId", period::text, granted, "messagesCount" + "statusesCount" as used, "acceptedAt" as at, "carriedInto" is not null and not $4 as carried`,
    values: [
      owners.map(({ ownerId }) => ownerId),
      owners.map(({ quota }) => quota),
      owners.map(({ wanted }) => wanted),
      evenCarried,
    ],
  })
  return rows
}

/** Gives back `n` of what {@link takeQuota} took in the same transaction, which still holds the rows. */
export async function untakeQuota(tx: Sql, taken: readonly (Pick<Taken, 'userId' | 'period'> & { n: number })[]): Promise<void> {
  if (taken.length === 0) return
  await tx.query({
    name: 'billing.untake-quota',
    text: `update usage u set "messagesCount" = u."messagesCount" - t.n
      from unnest($1::uuid[], $2::date[], $3::int[]) as t(id, period, n) where u."userId" = t.id and u.period = t.period`,
    values: [taken.map(({ userId }) => userId), taken.map(({ period }) => period), taken.map(({ n }) => n)],
  })
}

/** How much of the current period's quota an owner has used. */
export async function usedQuota(sql: Sql, ownerId: string): Promise<number> {
  const { rows } = await sql.query<{ used: number }>({
    name: 'billing.used-quota',
    text: `select "messagesCount" + "statusesCount" as used from usage where "userId" = $1 and period = ${present}`,
    values: [ownerId],
  })
  return rows[0]?.used ?? 0
}

/** Seconds until the next billing period of each of these owners begins, 1 if Stripe has not told it yet. */
export async function readUntilRenewal(sql: Sql, ownerIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ userId: string; seconds: number }>(
    `select "userId", greatest(1, ceil(extract(epoch from ${periodEndSql('s')} - now())))::int as seconds
     from subscriptions s where "userId" = any($1::uuid[])`,
    [ownerIds],
  )
  return new Map(rows.map(({ userId, seconds }) => [userId, seconds]))
}

/**
 * Subtracts `n` messages from the count of a period, and from the one that it was carried into. A change of the plan may carry it into another
 * one while this waits for its row; a further statement then sees the row of that period.
 */
export async function giveBackQuota(tx: Sql, taken: readonly { ownerId: string; period: string; n: number }[]): Promise<void> {
  const { rows: carried } = await tx.query<{ ownerId: string; period: string; n: number }>(
    `with back as (
       select b.id, b.period, b.n, u."carriedInto" as next from unnest($1::uuid[], $2::date[], $3::int[]) as b(id, period, n)
       left join usage u on u."userId" = b.id and u.period = b.period
     ), target as (
       select id, period, sum(n)::int as n from (
         select id, period, n from back union all select id, next, n from back where next is not null
       ) t group by id, period
     ), held as materialized (
       select u."userId", u.period, t.n from usage u join target t on u."userId" = t.id and u.period = t.period
       order by u."userId", u.period for update of u
     ), given as (
       update usage u set "messagesCount" = u."messagesCount" - held.n from held where u."userId" = held."userId" and u.period = held.period
       returning u."userId", u.period, u."carriedInto"
     )
     select b.id as "ownerId", g."carriedInto"::text as period, b.n from back b join given g on g."userId" = b.id and g.period = b.period
     where g."carriedInto" is not null and g."carriedInto" is distinct from b.next`,
    [taken.map(({ ownerId }) => ownerId), taken.map(({ period }) => period), taken.map(({ n }) => n)],
  )
  if (carried.length > 0) await giveBackQuota(tx, carried)
}

/**
 * Carries the counts of a user from one period into another, because the plan changes. A row of the first period exists afterwards, and
 * says where its count went. The subscription must be locked.
 */
export async function carryUsage(tx: Sql, userId: string, from: string, into: string): Promise<void> {
  await tx.query(
    `insert into usage ("userId", period) select $1, p from unnest(array[$2, $3]::date[]) p order by p on conflict do nothing`,
    [userId, from, into],
  )
  await tx.query(
    'select from usage where "userId" = $1 and (period in ($2, $3) or "carriedInto" = $2) order by period for update',
    [userId, from, into],
  )
  await tx.query(
    `update usage u set "messagesCount" = o."messagesCount", "statusesCount" = o."statusesCount", "plannedCount" = o."plannedCount", "carriedInto" = null
     from usage o where u."userId" = $1 and u.period = $3 and o."userId" = $1 and o.period = $2`,
    [userId, from, into],
  )
  await tx.query(
    `update usage set "carriedInto" = $3 where "userId" = $1 and (period = $2 or "carriedInto" = $2) and period <> $3`,
    [userId, from, into],
  )
  await tx.query(
    `insert into api_usage ("userId", period, "apiRequestsCount")
     select "userId", $3, "apiRequestsCount" from api_usage where "userId" = $1 and period = $2
     on conflict ("userId", period) do update set "apiRequestsCount" = excluded."apiRequestsCount"`,
    [userId, from, into],
  )
}

/** How many messages and recipients an owner has scheduled in the current period. */
export async function plannedCount(sql: Sql, ownerId: string): Promise<number> {
  const { rows } = await sql.query<{ planned: number }>(
    `select "plannedCount" as planned from usage where "userId" = $1 and period = ${present}`,
    [ownerId],
  )
  return rows[0]?.planned ?? 0
}

/** {@link plannedCount}, with the row locked; creates the row if it is missing. */
export async function lockPlanned(tx: Sql, ownerId: string): Promise<number> {
  const { rows } = await tx.query<{ planned: number }>(
    `insert into usage as u ("userId", period) values ($1, ${present})
     on conflict ("userId", period) do update set "plannedCount" = u."plannedCount" returning "plannedCount" as planned`,
    [ownerId],
  )
  return rows[0]?.planned ?? 0
}

/** Adds to the count of a row that {@link lockPlanned} has locked. */
export async function addPlanned(tx: Sql, ownerId: string, n: number): Promise<void> {
  await tx.query(`update usage set "plannedCount" = "plannedCount" + $2 where "userId" = $1 and period = ${present}`, [
    ownerId,
    n,
  ])
}

export interface PeriodUsage {
  messagesCount: number
  statusesCount: number
  apiRequestsCount: number
  periodStart: Date
  periodEnd: Date
}

/** Usage of the current period, by the clock of the database; zeros if nothing was counted yet. */
export async function usageNow(sql: Sql, ownerId: string): Promise<PeriodUsage> {
  const { rows } = await sql.query<PeriodUsage>(
    `select coalesce(u."messagesCount", 0) as "messagesCount", coalesce(u."statusesCount", 0) as "statusesCount",
       coalesce(a."apiRequestsCount", 0) as "apiRequestsCount", p.start as "periodStart", p.end as "periodEnd"
     from (
       select ${periodSql('s')} as period, ${periodStartSql('s')} as start, ${periodEndSql('s')} as end from subscriptions s where s."userId" = $1
     ) p
     left join usage u on u."userId" = $1 and u.period = p.period
     left join api_usage a on a."userId" = $1 and a.period = p.period`,
    [ownerId],
  )
  return rows[0] as PeriodUsage
}
