// Limit on scheduling per owner and month: a year of the quota or two of the largest campaigns, whichever is more;
// scheduled messages and campaign recipients count together.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { newPerson, type Person } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { newNumber, openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

/** Two of the largest campaigns: more than a year of the free plan's 500 a month. */
const ofFree = 200_000
const message = `The plan allows ${ofFree} scheduled messages and campaign recipients a month`
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** A person on the free plan with capacity to schedule `left` more, and a message body to schedule. */
async function planner(left: number): Promise<{ who: Person; later: () => object; text: object }> {
  const who = await newPerson(rig.gateway, rig.databaseUrl, 'free')
  const { id: instanceId } = await connectedInstance(rig.databaseUrl, who)
  await sql(rig.databaseUrl).query(
    `insert into usage ("userId", period, "plannedCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, $2)`,
    [who.userId, ofFree - left],
  )
  const text = { instanceId, type: 'text', text: 'Hello' }
  return { who, text, later: () => ({ ...text, to: newNumber(), scheduledAt: inAnHour() }) }
}

const count = async (table: string, { workspaceId }: Person) =>
  (
    await sql(rig.databaseUrl).query<{ n: number }>(`select count(*)::int as n from ${table} where "workspaceId" = $1`, [
      workspaceId,
    ])
  ).rows[0]?.n

describe('the scheduling limit', () => {
  it('refuses over REST and GraphQL once it is used up, and does not count immediate messages', async () => {
    const { who, later, text } = await planner(2)
    expect((await who.api.post('/api/messages/schedule', later())).status).toBe(201)
    const document = 'mutation ($input: ScheduleMessageInput!) { scheduleMessage(input: $input) { id } }'
    expect((await who.api.graphql(document, { input: later() })).body.errors).toBeUndefined()
    const refused = await who.api.post('/api/messages/schedule', later())
    expect([refused.status, refused.body.error]).toEqual([429, { code: 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED', message }])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1)
    const { errors } = (await who.api.graphql(document, { input: later() })).body
    expect(errors[0].extensions.code).toBe('MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
    expect((await who.api.post('/api/messages/send', { ...text, to: newNumber() })).status).toBe(201)
  })

  it('is exact under concurrency, for single messages and within a bulk, each judged alone', async () => {
    const { who, later } = await planner(10)
    const alone = Array.from({ length: 12 }, () => who.api.post('/api/messages/schedule', later()))
    const bulk = who.api.post('/api/messages/bulk', { messages: Array.from({ length: 12 }, later) })
    const accepted = (await Promise.all(alone)).filter(({ status }) => status === 201).length
    const { data } = (await bulk).body
    expect(accepted + data.accepted.length).toBe(10)
    expect(new Set(data.rejected.map(({ code }: { code: string }) => code))).toEqual(new Set(['MONTHLY_OUTBOUND_QUOTA_EXCEEDED']))
    expect(await count('messages', who)).toBe(10)
  })

  it('counts every recipient of a campaign, and a refused campaign stores nothing', async () => {
    const { who, text } = await planner(10)
    const campaign = (n: number) => ({
      ...text,
      name: newId(),
      scheduledAt: inAnHour(),
      recipients: Array.from({ length: n }, () => ({ to: newNumber() })),
    })
    const refused = await who.api.post('/api/campaigns', campaign(11))
    expect([refused.status, refused.body.error]).toEqual([429, { code: 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED', message }])
    const both = await Promise.all([who.api.post('/api/campaigns', campaign(6)), who.api.post('/api/campaigns', campaign(6))])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 429])
    expect(await count('campaigns', who)).toBe(1)
    expect((await who.api.post('/api/campaigns', campaign(4))).status).toBe(201)
    expect((await who.api.post('/api/messages/schedule', { ...text, to: newNumber(), scheduledAt: inAnHour() })).status).toBe(429)
  })
})
