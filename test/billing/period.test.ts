// The month of the quotas is the billing period; a plan that changes carries its count, and only a renewal begins at 0.
import { beforeEach, describe, expect, it } from 'vitest'
import { storeSubscription } from '../../src/billing/subscription.ts'
import type { SubscriptionState } from '../../src/billing/subscriptions.sql.ts'
import { endPeriods } from '../../src/billing/sweep.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { newNumber } from '../rest-compat/rig.ts'

const { url, databaseUrl } = commons()
const pool = sql(databaseUrl)
const dayMs = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * dayMs)
const now = new Date()
const month = {
  currentPeriodStart: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())),
  currentPeriodEnd: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
}

/** A plan of Stripe whose period lasts from `from` to `to`, in days from now. */
function paid(plan: 'pro' | 'max', from: number, to: number, status: 'active' | 'cancelled' = 'active'): SubscriptionState {
  const period = { currentPeriodStart: inDays(from), currentPeriodEnd: inDays(to) }
  return { plan, status, ...period, cancelAtPeriodEnd: status === 'cancelled', provider: 'stripe', externalId: null }
}
const free: SubscriptionState = {
  plan: 'free',
  status: 'active',
  ...month,
  cancelAtPeriodEnd: false,
  provider: null,
  externalId: null,
}

let account: Account
let client: Api
let instanceId: string

beforeEach(async () => {
  account = await createAccount(databaseUrl, { plan: 'free' })
  client = api({ url }, account.apiKey)
  instanceId = (await connectedInstance(databaseUrl, account, { status: 'disconnected' })).id
})

const change = (state: SubscriptionState) => sqlTransaction(pool, (tx) => storeSubscription(tx, account.userId, state))
const send = () => client.post('messages/send', { instanceId, to: newNumber(), type: 'text', text: 'Hello' })

async function usage() {
  const rest = (await client.get('usage')).body.data
  const graph = await client.graphql('{ usage { messagesCount apiRequestsCount periodStart periodEnd } }')
  const { messagesCount, apiRequestsCount, periodStart, periodEnd } = rest
  expect(graph.body.data.usage).toEqual({ messagesCount, apiRequestsCount: apiRequestsCount + 1, periodStart, periodEnd })
  return rest
}

async function setUsed(period: Date, n: number): Promise<void> {
  for (const [table, column] of [
    ['usage', 'messagesCount'],
    ['api_usage', 'apiRequestsCount'],
  ])
    await pool.query(
      `insert into ${table} ("userId", period, "${column}") values ($1, ($2::timestamptz at time zone 'utc')::date, $3)
       on conflict ("userId", period) do update set "${column}" = $3`,
      [account.userId, period, n],
    )
}

/** Days of `Retry-After`. */
function daysUntil({ headers }: { headers: Headers }): number {
  return Number(headers.get('retry-after')) / 86_400
}

describe('the month of the quotas', () => {
  it('is the period of a paid plan, which begins at 0, and nothing of another month counts', async () => {
    const state = paid('pro', -10, 20)
    await change(state)
    await setUsed(inDays(-40), 150_000)
    await setUsed(state.currentPeriodStart, 49_999)
    expect((await send()).status).toBe(201)
    const refused = await send()
    expect([refused.status, refused.body.error.code]).toEqual([429, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED'])
    const days = daysUntil(refused)
    expect([days > 19.9, days <= 20]).toEqual([true, true])
    expect(await usage()).toMatchObject({
      messagesCount: 50_000,
      periodStart: state.currentPeriodStart.toISOString(),
      periodEnd: state.currentPeriodEnd.toISOString(),
    })
    await setUsed(state.currentPeriodStart, 150_000)
    const over = await client.get('usage')
    expect([over.status, over.body.error.code]).toEqual([429, 'MONTHLY_API_REQUEST_QUOTA_EXCEEDED'])
    expect([daysUntil(over) > 19.9, daysUntil(over) <= 20]).toEqual([true, true])
  })

  it('is the calendar month of Free, whatever period is stored', async () => {
    await pool.query(
      `update subscriptions set "currentPeriodStart" = now() - interval '9 days', "currentPeriodEnd" = now() + interval '9 days' where "userId" = $1`,
      [account.userId],
    )
    const { currentPeriodStart, currentPeriodEnd } = month
    expect(await usage()).toMatchObject({
      periodStart: currentPeriodStart.toISOString(),
      periodEnd: currentPeriodEnd.toISOString(),
    })
    const shown = (await client.get('billing/subscription')).body.data
    expect(shown.currentPeriodStart).toBe(currentPeriodStart.toISOString())
  })
})

describe('the usage', () => {
  it('is carried by a change of the plan, up and down, and comes back to the period that holds it', async () => {
    const ids = [await send(), await send(), await send()].map(({ body }) => body.data.id)
    await change(paid('pro', -2, 28))
    // The three sends, and the two looks that `usage` takes.
    expect(await usage()).toMatchObject({ messagesCount: 3, apiRequestsCount: 4 })
    expect((await client.post(`messages/${ids[0]}/cancel`)).status).toBe(200)
    expect((await usage()).messagesCount).toBe(2)
    await change(paid('max', -1, 29))
    expect((await usage()).messagesCount).toBe(2)
    await change(free)
    expect((await client.post(`messages/${ids[1]}/cancel`)).status).toBe(200)
    expect((await send()).status).toBe(201)
    expect((await usage()).messagesCount).toBe(2)
  })

  it('begins at 0 with a renewal', async () => {
    await change(paid('pro', -31, -1))
    expect((await send()).status).toBe(201)
    expect((await usage()).messagesCount).toBe(1)
    await change(paid('pro', -1, 29))
    expect(await usage()).toMatchObject({ messagesCount: 0, apiRequestsCount: 1 })
  })

  it('is carried into Free when a cancelled plan ends', async () => {
    await change(paid('pro', -20, -1, 'cancelled'))
    expect((await send()).status).toBe(201)
    // By one request, because the shared gateway ends periods as well, also between two.
    expect((await client.get('usage')).body.data.messagesCount).toBe(1)
    await endPeriods(pool)
    expect(await usage()).toMatchObject({
      messagesCount: 1,
      plan: { code: 'free' },
      periodStart: month.currentPeriodStart.toISOString(),
    })
  })

  it('is carried without what is given back while the plan changes', async () => {
    const [first] = [await send(), await send()].map(({ body }) => body.data.id)
    const held = 'select from usage where "userId" = $1 for update'
    const cancel = () => client.post(`messages/${first}/cancel`)
    await whileHeld<unknown>(databaseUrl, [held, account.userId], [() => change(paid('pro', -2, 28)), cancel])
    expect((await usage()).messagesCount).toBe(1)
    await change(free)
    expect((await usage()).messagesCount).toBe(1)
  })

  it('is carried by a change of the plan that locks all of its periods in their order', async () => {
    const [first, second, third] = [paid('pro', -5, 20), paid('max', -4, 20), paid('pro', -3, 20)] as const
    await change(first)
    await change(second)
    const lock = `select from usage where "userId" = $1 and period = ($2::timestamptz at time zone 'utc')::date for update`
    const of = ({ currentPeriodStart }: SubscriptionState) => [account.userId, currentPeriodStart]
    // A transaction that returns quota of the first period locks the row of that period, and then the row of the second one.
    await whileHeld<unknown>(databaseUrl, [lock, ...of(first)], [() => change(third)], [`${lock} nowait`, ...of(second)])
    expect((await usage()).messagesCount).toBe(0)
  })

  it('is exact when the plan changes amid sends', async () => {
    await send()
    const sends = Array.from({ length: 40 }, () => send())
    const changes = [-3, -4, -5].reduce(
      (before, days) => before.then(async () => void (await change(paid(days % 2 ? 'pro' : 'max', days, 20)))),
      Promise.resolve(),
    )
    const [answers] = await Promise.all([Promise.all(sends), changes])
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(201))
    expect((await usage()).messagesCount).toBe(41)
  })
})
