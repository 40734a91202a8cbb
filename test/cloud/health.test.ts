// Health of numbers on Meta's Cloud API: read at an interval, and shown as the safety of the instance.
import { beforeAll, expect, it } from 'vitest'
import { assess } from '../../src/instances/safety.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { fresh, openRig, type Phone, type Rig } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig({ CLOUD_HEALTH_SECONDS: '1' })
})

async function healthOf({ id }: Phone) {
  return (await rig.api.get(`instances/${id}/health`)).body.data
}

it('shows the messaging limit as the caps of an instance, from its connection on', async () => {
  const phone = await rig.phone({ limit: 'TIER_2K' })
  expect(await healthOf(phone)).toMatchObject({
    safetyState: 'new',
    warmupPolicy: { dailyUniqueRecipientsCap: 2_000, dailyOutboundCap: 8_000, maxCampaignRecipients: 2_000, maxColdRatio: 1 },
  })
  phone.number.limit = 'TIER_10K'
  await until(async () => (await healthOf(phone)).warmupPolicy.dailyUniqueRecipientsCap === 10_000)
  phone.number.limit = 'TIER_UNLIMITED'
  await until(async () => (await healthOf(phone)).warmupPolicy.dailyUniqueRecipientsCap === 2 ** 31 - 1)
})

it('calls an instance at risk or restricted as Meta does', async () => {
  const phone = await rig.phone({ limit: 'TIER_1K' })
  phone.number.quality = 'YELLOW'
  const risky = await until(async () => {
    const health = await healthOf(phone)
    return health.safetyState === 'at_risk' && health
  })
  expect(risky.warmupPolicy).toMatchObject({ dailyUniqueRecipientsCap: 500 })
  phone.number.status = 'RESTRICTED'
  const restricted = await until(async () => {
    const health = await healthOf(phone)
    return health.safetyState === 'restricted' && health
  })
  expect(restricted.warmupPolicy).toMatchObject({ dailyUniqueRecipientsCap: 0, maxCampaignRecipients: 0 })
  expect(await rig.state(phone.id)).toEqual({
    status: 'connected',
    lastError: 'Meta restricts the number: status is RESTRICTED',
  })
  phone.number.status = 'CONNECTED'
  await until(async () => (await rig.state(phone.id)).lastError === null)
  expect((await healthOf(phone)).safetyState).toBe('restricted')
  phone.number.status = 'RESTRICTED'
  await until(async () => (await rig.state(phone.id)).lastError !== null)
  const { rows } = await sql(rig.databaseUrl).query('select meta from instances where id = $1', [phone.id])
  expect(rows[0].meta).toEqual({
    verifiedName: 'Test Business',
    qualityRating: 'YELLOW',
    status: 'RESTRICTED',
    canSendMessage: 'AVAILABLE',
    messagingLimit: 'TIER_1K',
  })
})

it('forgets the words of a refused message once the number is in order', async () => {
  const phone = await rig.phone()
  const effect = { code: 131048, status: 403, details: 'Spam' }
  rig.standIn.addFault({ on: new RegExp(`POST ${phone.number.id}/messages`), effect })
  const id = await rig.send(phone.id, { to: fresh(), text: 'hi' })
  expect(await rig.settled(id, 'failed')).toMatchObject({ error: 'ACCOUNT_RESTRICTED', errorDetail: 'Spam (131048)' })
  await until(async () => (await rig.state(phone.id)).lastError === null)
  expect((await healthOf(phone)).safetyState).toBe('restricted')
})

it('disconnects an instance whose token was refused', async () => {
  const phone = await rig.phone()
  phone.number.accessToken = 'EAAother'
  await until(async () => (await rig.state(phone.id)).status === 'disconnected')
  expect(await rig.state(phone.id)).toEqual({ status: 'disconnected', lastError: 'the access token was refused (190)' })
})

it('keeps the standing while Meta is away', async () => {
  const phone = await rig.phone({ limit: 'TIER_1K' })
  const on = new RegExp(`GET ${phone.number.id}$`)
  rig.standIn.addFault({ on, effect: { code: 2, status: 503 }, times: 2 })
  const before = rig.standIn.count(on)
  await until(() => rig.standIn.count(on) >= before + 3)
  expect(await rig.state(phone.id)).toEqual({ status: 'connected', lastError: null })
  expect(await healthOf(phone)).toMatchObject({ safetyState: 'new', warmupPolicy: { dailyUniqueRecipientsCap: 1_000 } })
})

it('counts a warning for three days, and a restriction as one after its day', () => {
  const now = new Date('2026-01-31T10:00:00Z')
  const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
  const traffic = { outbound1h: 0, outbound24h: 0, uniqueRecipients1h: 0, uniqueRecipients24h: 0, failed24h: 0 }
  const quiet = { ...traffic, inboundReplies24h: 0, inboundReplies7d: 0, coldRecipients24h: 0, disconnections24h: 0 }
  const stateAfter = (hours: number, restricted: boolean) => {
    const standing = { firstConnectedAt: ago(1_000), atRiskAt: ago(hours), restrictedAt: restricted ? ago(hours) : null }
    return assess({ ...standing, dailyRecipients: null }, quiet, now).state
  }
  expect([1, 71, 73].map((hours) => stateAfter(hours, false))).toEqual(['at_risk', 'at_risk', 'stable'])
  expect([1, 23, 25, 71, 73].map((hours) => stateAfter(hours, true))).toEqual([
    'restricted',
    'restricted',
    'at_risk',
    'at_risk',
    'stable',
  ])
})
