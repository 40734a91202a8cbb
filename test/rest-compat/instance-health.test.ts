// GET instances/{id}/health: the state, the caps and the traffic of an instance, with recommendations.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { until } from '../kit/until.ts'
import { moment, newTenant, openRig, type Rig, type Tenant, text } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

async function create(tenant: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  return (await tenant.api.post('instances', { name: 'Phone', ...fields })).body.data.id
}

describe('the health of an instance', () => {
  const policy = (state: string, caps: number[], maxColdRatio: number, instanceAgeDays: unknown) => {
    const [hourlyOutboundCap, dailyOutboundCap, hourlyUniqueRecipientsCap, dailyUniqueRecipientsCap, maxCampaignRecipients] = caps
    return {
      state,
      instanceAgeDays,
      hourlyOutboundCap,
      dailyOutboundCap,
      hourlyUniqueRecipientsCap,
      dailyUniqueRecipientsCap,
      maxCampaignRecipients,
      maxColdRatio,
    }
  }
  const quiet = {
    outbound1h: 0,
    outbound24h: 0,
    uniqueRecipients1h: 0,
    uniqueRecipients24h: 0,
    inboundReplies24h: 0,
    inboundReplies7d: 0,
  }

  it.each([
    ['new', 1, [10, 40, 5, 20, 20], 0.2],
    ['warming', 5, [30, 200, 20, 100, 100], 0.4],
    ['stable', 30, [200, 2000, 120, 1000, 1000], 0.7],
  ] as const)('has the exact record for the state %s', async (state, ageDays, caps, cold) => {
    const { id } = await connectedInstance(rig.databaseUrl, rig.tenant.account, { ageDays })
    const { status, body } = await rig.tenant.api.get(`instances/${id}/health`)
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: {
        data: {
          instanceId: id,
          safetyState: state,
          safetyScore: 100,
          firstConnectedAt: moment,
          warmupPolicy: policy(state, [...caps], cold, ageDays),
          usageWindowSummary: quiet,
          recommendations: [],
        },
      },
    })
  })

  it('counts the messages sent and gives recommendations', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const to = '+4915112360006'
    await tenant.api.post('messages/send', text(tenant, { to }))
    await tenant.api.post('messages/send', text(tenant, { to: '+4915112340001' }))
    const health = await until(async () => {
      const { data } = (await tenant.api.get(`instances/${tenant.instance.id}/health`)).body
      return data.usageWindowSummary.inboundReplies24h === 1 && data.safetyScore < 100 && data
    })
    expect(health.usageWindowSummary).toEqual({
      outbound1h: 2,
      outbound24h: 2,
      uniqueRecipients1h: 2,
      uniqueRecipients24h: 2,
      inboundReplies24h: 1,
      inboundReplies7d: 1,
    })
    expect(health.recommendations).toContain('Many messages fail: check the numbers before you send.')
  })

  it('has no firstConnectedAt before the first connection', async () => {
    const id = await create(rig.tenant)
    expect((await rig.tenant.api.get(`instances/${id}/health`)).body.data).toMatchObject({
      firstConnectedAt: null,
      safetyState: 'new',
    })
  })
})
