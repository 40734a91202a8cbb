// When the period of a cancelled subscription ends, exactly one worker records it as Free.
import { beforeAll, describe, expect, it } from 'vitest'
import { planInForce, planInForceSql } from '../../src/billing/plans.ts'
import { endPeriods } from '../../src/billing/sweep.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { spawnGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { rowOf, type Site } from './rig.ts'

let site: Site

beforeAll(async () => {
  site = { databaseUrl: await cloneDatabase(), url: '' }
})

const now = new Date()
const month = {
  currentPeriodStart: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())),
  currentPeriodEnd: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
}
const free = { plan: 'free', status: 'active', cancelAtPeriodEnd: false, provider: null, externalId: null, ...month }

/** Accounts on MAX, each with its own changed fields. */
async function subscribed(...fields: string[]) {
  return await Promise.all(
    fields.map(async (field) => {
      const account = await createAccount(site.databaseUrl)
      await sql(site.databaseUrl).query(`update subscriptions set ${field} where "userId" = $1`, [account.userId])
      return account
    }),
  )
}

const ended = `status = 'cancelled', "cancelAtPeriodEnd" = true, provider = 'stripe', "currentPeriodEnd" = now()`
const past = `"currentPeriodEnd" = now() - interval '1 day'`

describe('the end of a period', () => {
  it('changes cancelled subscriptions to Free, keeps the customer id, and touches no others', async () => {
    const over = await subscribed(ended, `${ended}, "customerId" = 'cus_1', "externalId" = 'sub_1'`, ended)
    const others = await subscribed(
      ...['active', 'past_due', 'inactive'].map((status) => `status = '${status}', ${past}`),
      `status = 'cancelled', "cancelAtPeriodEnd" = true`,
    )
    const before = await Promise.all(others.map((account) => rowOf(site, account)))
    const counts = await Promise.all(Array.from({ length: 3 }, () => endPeriods(sql(site.databaseUrl))))
    expect(counts.reduce((a, b) => a + b)).toBe(3)
    expect(await endPeriods(sql(site.databaseUrl))).toBe(0)
    for (const account of over) expect(await rowOf(site, account)).toMatchObject(free)
    expect(await rowOf(site, over[1] as (typeof over)[number])).toMatchObject({ customerId: 'cus_1' })
    expect(await Promise.all(others.map((account) => rowOf(site, account)))).toEqual(before)
  })

  it('skips a row that is locked by another transaction', async () => {
    const [resumed] = await subscribed(ended)
    const client = await sql(site.databaseUrl).connect()
    await client.query('begin')
    await client.query(`update subscriptions set status = 'active' where "userId" = $1`, [resumed?.userId])
    expect(await endPeriods(sql(site.databaseUrl))).toBe(0)
    await client.query('commit')
    client.release()
    expect(await endPeriods(sql(site.databaseUrl))).toBe(0)
    expect(await rowOf(site, resumed as { userId: string })).toMatchObject({ plan: 'max', status: 'active' })
  })

  it('gives the same plan in SQL and in code, even for a plan that is no longer sold', async () => {
    const accounts = await subscribed(
      ...['active', 'past_due', 'inactive', 'cancelled'].flatMap((status) =>
        ['pro', 'max', 'gold', 'free'].flatMap((plan) =>
          ['-1', '1'].map(
            (days) => `status = '${status}', plan = '${plan}', "currentPeriodEnd" = now() + interval '${days} days'`,
          ),
        ),
      ),
    )
    const { rows } = await sql(site.databaseUrl).query(
      `select s.*, ${planInForceSql('s')} as code from subscriptions s where "userId" = any($1)`,
      [accounts.map(({ userId }) => userId)],
    )
    expect(rows).toHaveLength(32)
    expect(rows.map(({ code }) => code)).toEqual(rows.map((row) => planInForce(row, new Date()).code))
    expect(new Set(rows.map(({ code }) => code))).toEqual(new Set(['free', 'pro', 'max']))
  })

  it('is recorded by a running worker within 15 s, without a request', async () => {
    spawnGateway({ databaseUrl: site.databaseUrl, env: { ROLES: 'worker' } })
    const overdue = () => sql(site.databaseUrl).query(`select cron from pgboss.schedule where name = 'billing.sync_overdue'`)
    expect(await until(async () => (await overdue()).rows[0])).toEqual({ cron: '53 * * * *' })
    const [account] = await subscribed(ended)
    await until(async () => (await rowOf(site, account as { userId: string })).plan === 'free', { timeoutMs: 15_000 })
  })
})
