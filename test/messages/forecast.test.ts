// Proves that an instance shows its limits of the next days with what is planned for them, and when it reaches today's at its present rate.
import { expect, it } from 'vitest'
import { newPerson } from '../accounts/person.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'

const site = commons()
const day = 86_400_000
const document = `query ($id: ID!, $days: Int) { instance(id: $id) {
  safetyForecast(days: $days) { at state dailyOutboundCap hourlyOutboundCap dailyUniqueRecipientsCap scheduled campaigns }
  health { safetyState dailyCapReachedAt }
} }`

async function phone(ageDays: number) {
  const person = await newPerson(site, site.databaseUrl)
  const { id } = await connectedInstance(site.databaseUrl, person, { ageDays })
  const read = async (days?: number) => {
    const { body } = await person.api.graphql(document, { id, days })
    return { ...body, ...body.data?.instance }
  }
  const schedule = async (inDays: number, to: string) => {
    const scheduledAt = new Date(Date.now() + inDays * day).toISOString()
    const answer = await person.api.post('/api/messages/schedule', {
      instanceId: id,
      to,
      type: 'text',
      text: 'Hello',
      scheduledAt,
    })
    expect(answer.status).toBe(201)
    return answer.body.data.id as string
  }
  return { person, id, read, schedule }
}

it('shows the limits grow with the age of the instance', async () => {
  const { safetyForecast } = await (await phone(1)).read()
  expect(safetyForecast.map(({ state }: { state: string }) => state)).toEqual([
    ...Array(2).fill('new'),
    ...Array(11).fill('warming'),
    'stable',
  ])
  expect(safetyForecast[0]).toMatchObject({ dailyOutboundCap: 40, hourlyOutboundCap: 10, dailyUniqueRecipientsCap: 20 })
  expect(safetyForecast[13]).toMatchObject({ dailyOutboundCap: 2_000, scheduled: 0, campaigns: 0 })
  const [first, second] = safetyForecast.map(({ at }: { at: string }) => Date.parse(at))
  expect(second - first).toBe(day)
  expect(Math.abs(first - Date.now())).toBeLessThan(day / 2)
})

it('counts scheduled messages on their days, without cancelled ones and those of other instances', async () => {
  const { person, read, schedule } = await phone(30)
  const other = await phone(30)
  for (const inDays of [0.5, 2.5, 2.6]) await schedule(inDays, '+4915112345678')
  const cancelled = await schedule(2.7, '+4915112345678')
  await person.api.graphql('mutation ($id: ID!) { cancelMessage(id: $id) { id } }', { id: cancelled })
  await other.schedule(1.5, '+4915112345678')
  const { safetyForecast } = await read(4)
  expect(safetyForecast.map(({ scheduled }: { scheduled: number }) => scheduled)).toEqual([1, 0, 2, 0])
})

it('counts what campaigns are going to send, at their rate and from their start on, and not if they are paused', async () => {
  const { person, id, read } = await phone(30)
  const create = async (more: object) => {
    const phones = Array.from({ length: 5 }, (_, n) => `+49151123456${n}9`)
    const input = { name: 'Sale', instanceId: id, type: 'text', text: 'Hello', recipients: phones.map((to) => ({ to })), ...more }
    const { body } = await person.api.graphql(
      'mutation ($input: CreateCampaignInput!) { createCampaign(input: $input) { id } }',
      { input },
    )
    expect(body.errors).toBeUndefined()
    return body.data.createCampaign.id as string
  }
  const scheduledAt = new Date(Date.now() + 1.5 * day).toISOString()
  await create({ scheduledAt })
  const paused = await create({ scheduledAt })
  await person.api.graphql('mutation ($id: ID!) { pauseCampaign(id: $id) { id } }', { id: paused })
  const { safetyForecast } = await read(3)
  expect(safetyForecast.map(({ campaigns }: { campaigns: number }) => campaigns)).toEqual([0, 5, 0])
})

it('begins with the present state: an account that its provider restricted', async () => {
  const { id, read } = await phone(30)
  await sql(site.databaseUrl).query(`update instances set "restrictedAt" = now() - interval '1 hour' where id = $1`, [id])
  const { safetyForecast } = await read(2)
  expect(safetyForecast.map(({ state }: { state: string }) => state)).toEqual(['restricted', 'stable'])
})

it('tells when the limit of the day is reached at the rate of the last hour', async () => {
  const { person, id, read } = await phone(1)
  expect((await read(1)).health.dailyCapReachedAt).toBeNull()
  for (let n = 0; n < 3; n++)
    await person.api.post('/api/messages/send', { instanceId: id, to: '+4915112345678', type: 'text', text: 'Hello' })
  await until(async () => (await read(1)).health.dailyCapReachedAt !== null)
  // Three in an hour: the other 37 of 40 take more than twelve hours.
  expect(Date.parse((await read(1)).health.dailyCapReachedAt) - Date.now()).toBeGreaterThan(day / 2)
})

it('refuses a number of days that it does not show', async () => {
  const { read } = await phone(30)
  for (const days of [0, 61]) expect((await read(days)).errors[0].extensions.code).toBe('VALIDATION_ERROR')
})
