// REST routes of the account: me, usage, billing and plans; and statuses, which no plan includes.
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { send } from '../promises/wire.ts'
import { expectRefusal, moment, newTenant, openRig, type Rig, text } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const limits = {
  free: [1, 1, 3, 500, 500, 10],
  pro: [5, 5, 15, 50_000, 150_000, 50],
  max: [20, 10, 50, 150_000, 500_000, null],
} as const

type Code = keyof typeof limits

function limitsOf(code: Code) {
  const [maxInstances, maxApiKeys, maxWebhookEndpoints, monthlyOutboundQuota, monthlyApiRequestQuota] = limits[code]
  return { maxInstances, maxApiKeys, maxWebhookEndpoints, monthlyOutboundQuota, monthlyApiRequestQuota }
}

const features = { campaigns: true, statuses: false, voiceNotes: true, webhooks: true, numberLookups: true }
const names = { free: 'Free', pro: 'Pro', max: 'MAX' } as const
const now = new Date()
const monthStart = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString()
const monthEnd = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()

describe.each(['free', 'pro', 'max'] as const)('an account on %s', (code) => {
  it('reads its profile, usage, subscription and payments', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl, code)
    const { account } = tenant
    const plan = { code, name: names[code] }
    const me = await tenant.api.get('me')
    expect({ status: me.status, body: me.body }).toStrictEqual({
      status: 200,
      body: { data: { id: account.userId, email: account.email, name: 'Test', emailVerified: true, plan, createdAt: moment } },
    })
    await tenant.api.post('messages/send', text(tenant))
    await tenant.api.post('messages/send', {})
    const sent = { messagesCount: 1, statusesCount: 0, effectiveOutboundUsage: 1 }
    const { monthlyOutboundQuota, monthlyApiRequestQuota } = limitsOf(code)
    expect((await tenant.api.get('usage')).body).toStrictEqual({
      data: {
        plan,
        ...sent,
        monthlyOutboundQuota,
        apiRequestsCount: 4,
        monthlyApiRequestQuota,
        periodStart: monthStart,
        periodEnd: monthEnd,
      },
    })
    expect((await tenant.api.get('billing/usage')).body).toStrictEqual({
      data: { plan, limits: limitsOf(code), features, usage: { ...sent, apiRequestsCount: 5 } },
    })
    expect((await tenant.api.get('billing/subscription')).body).toStrictEqual({
      data: { plan, status: 'active', currentPeriodStart: monthStart, currentPeriodEnd: monthEnd, cancelAtPeriodEnd: false },
    })
    expect((await tenant.api.get('billing/payments')).body).toStrictEqual({ data: [] })
  })
})

describe('a subscription', () => {
  async function subscribed(fields: string) {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl, 'pro')
    await sql(rig.databaseUrl).query(`update subscriptions set ${fields} where "userId" = $1`, [tenant.account.userId])
    return (await tenant.api.get('billing/subscription')).body.data
  }

  it('keeps its plan after a cancellation until the period ends, then becomes Free', async () => {
    const future = `status = 'cancelled', "currentPeriodEnd" = now() + interval '1 day', "cancelAtPeriodEnd" = true`
    expect(await subscribed(future)).toMatchObject({ plan: { code: 'pro' }, status: 'cancelled', cancelAtPeriodEnd: true })
    const past = `status = 'cancelled', "currentPeriodEnd" = now() - interval '1 day'`
    expect(await subscribed(past)).toStrictEqual({
      plan: { code: 'free', name: 'Free' },
      status: 'active',
      currentPeriodStart: monthStart,
      currentPeriodEnd: monthEnd,
      cancelAtPeriodEnd: false,
    })
  })

  it('moves its period to the current month when the stored one is past', async () => {
    const old = `"currentPeriodStart" = '2020-01-01T00:00:00Z', "currentPeriodEnd" = '2020-02-01T00:00:00Z'`
    expect(await subscribed(old)).toMatchObject({ status: 'active', currentPeriodStart: monthStart, currentPeriodEnd: monthEnd })
  })
})

it('lists the plans with prices and limits for an API key', async () => {
  const { status, body } = await rig.tenant.api.get('billing/plans')
  const plan = (code: Code, monthlyPrice: number, maxOwned: number, seatsPerTeam: number) => ({
    code,
    name: names[code],
    monthlyPrice,
    currency: 'EUR',
    limits: { ...limitsOf(code), maxContactGroups: limits[code][5] },
    features,
    teams: { maxOwned, seatsPerTeam },
  })
  expect({ status, body }).toStrictEqual({
    status: 200,
    body: { data: [plan('free', 0, 0, 0), plan('pro', 19, 2, 4), plan('max', 39, 4, 8)] },
  })
})

describe('statuses', () => {
  it('are refused with 403 for every key before the body is validated', async () => {
    const free = await newTenant(rig.gateway, rig.databaseUrl, 'free')
    for (const { api } of [rig.tenant, free]) {
      for (const body of [undefined, {}, '{"text":', 'x'.repeat(2_000_000)]) {
        expectRefusal(
          await api.post('statuses', body),
          403,
          'STATUSES_NOT_AVAILABLE_ON_PLAN',
          'Statuses are not available on any plan',
        )
      }
    }
    expectRefusal(
      await rig.tenant.api.post('statuses', 'x', { 'content-type': 'text/plain' }),
      403,
      'STATUSES_NOT_AVAILABLE_ON_PLAN',
    )
  })

  it('are refused before the body arrives, whatever the headers say about it', async () => {
    const head = `POST /api/v1/statuses HTTP/1.1\r\nHost: x\r\nx-api-key: ${rig.tenant.account.apiKey}\r\n`
    const said = [
      'Content-Length: 100',
      'Transfer-Encoding: chunked',
      'Content-Encoding: gzip\r\nContent-Length: 9',
      'Content-Length: 9999999999',
    ]
    for (const length of said) {
      // A server that waits for the rest of the request would answer 408 in the end.
      const { text } = await send(rig.gateway, `${head}${length}\r\n\r\n`, /\r\n\r\n\{.*\}$/s)
      expect([length, text.match(/^HTTP\/1\.1 (\d+)/)?.[1]]).toEqual([length, '403'])
      expect(text).toContain('"STATUSES_NOT_AVAILABLE_ON_PLAN"')
    }
  })

  it('are refused with 401 without a key', async () => {
    expectRefusal(await api(rig.gateway).post('statuses', {}), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
  })
})
