// A sweep of plans handles those that fell, however many owners have something resting, and leaves the others alone.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

const within = { timeoutMs: 15_000 }

/** Opens accounts on Free with one working and one resting key each. Their ids come before those of other accounts. */
async function openResting(databaseUrl: string, count: number): Promise<void> {
  await sql(databaseUrl).query(
    `with people as (
       insert into users (id, email, name) select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, n || '@example.com', 'Owner'
       from generate_series(1, $1::int) n returning id
     ), plans as (
       insert into subscriptions ("userId", plan, "currentPeriodStart", "currentPeriodEnd", rests)
       select id, 'free', date_trunc('month', now()), date_trunc('month', now()) + interval '1 month', true from people
     ), spaces as (
       insert into workspaces (id, "ownerId") select id, id from people
     ) insert into api_keys (id, "userId", "workspaceId", name, prefix, hash, "createdAt", "restingAt")
       select gen_random_uuid(), id, id, 'Key', 'svc_live', sha256(convert_to(id::text || k, 'utf8')), now() + k * interval '1 second',
         case when k = 2 then now() end
       from people, generate_series(1, 2) k`,
    [count],
  )
}

it('lets keys rest within 15 s of a fall beside 1,100 owners of whom something rests, and writes nothing of those', async () => {
  const databaseUrl = await cloneDatabase()
  const db = sql(databaseUrl)
  await openResting(databaseUrl, 1_100)
  const owner = await createAccount(databaseUrl, { plan: 'free' })
  await db.query(
    `insert into api_keys (id, "userId", "workspaceId", name, prefix, hash)
     values (gen_random_uuid(), $1, $2, 'Later', 'svc_live', sha256('later'))`,
    [owner.userId, owner.workspaceId],
  )
  const versions = async () =>
    (await db.query(`select "userId", ctid, xmin, xmax from subscriptions where "userId" <> $1 order by 1`, [owner.userId])).rows
  const before = await versions()
  const restingOf = async (userId: string) =>
    (await db.query('select name from api_keys where "userId" = $1 and "restingAt" is not null', [userId])).rows
  await openGateway({ databaseUrl, env: { ROLES: 'worker' } })
  await db.query('update subscriptions set "fellAt" = now() where "userId" = $1', [owner.userId])
  await until(async () => (await restingOf(owner.userId)).length === 1, within)
  expect(await restingOf(owner.userId)).toEqual([{ name: 'Later' }])

  // A place that becomes free is taken, wherever its owner stands in the order.
  const [first, last] = [before[0].userId, before.at(-1).userId]
  await db.query('update api_keys set "revokedAt" = now() where "userId" = any($1) and "restingAt" is null', [[first, last]])
  await until(async () => (await restingOf(first)).length + (await restingOf(last)).length === 0)

  // An owner of whom nothing rests any more is not looked at again.
  const { userId: gone } = before[1]
  await db.query('update api_keys set "revokedAt" = now() where "userId" = $1 and "restingAt" is not null', [gone])
  const ofOwners = 'select rests from subscriptions where "userId" = any($1)'
  await until(async () => (await db.query(ofOwners, [[first, gone, last]])).rows.every(({ rests }) => !rests))
  const changed = (await versions()).filter((row, i) => JSON.stringify(row) !== JSON.stringify(before[i]))
  expect(changed.map(({ userId }) => userId)).toEqual([first, gone, last])
})
