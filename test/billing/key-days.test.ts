// The requests of keys, day by day: those that count towards the quota.
import pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { pruneAccounts } from '../../src/accounts/jobs.ts'
import { keyUse } from '../../src/accounts/keys/key-use.ts'
import { type Api, hastyApi } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { openPerson, openTeam, type Person } from './rig.ts'

let databaseUrl: string
let gateway: InnerGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '1' } })
})

const openHere = () => openPerson({ databaseUrl, url: gateway.url }, 'max')

interface Day {
  day: string
  requests: number | null
}

const total = (days: readonly Day[]) => days.reduce((sum, { requests }) => sum + (requests ?? 0), 0)

async function ask(client: Api, query: string) {
  await keyUse(gateway.app).flush()
  const { body } = await client.graphql(query)
  expect(body.errors).toBeUndefined()
  return body.data
}

const daysOf = async (client: Api, last: number): Promise<Day[]> =>
  (await ask(client, `{ apiKeys { days(last: ${last}) { day requests } } }`)).apiKeys[0].days

const usageOf = async ({ api }: Person): Promise<{ apiRequestsCount: number; days: Day[] }> =>
  (await ask(api, '{ usage { apiRequestsCount days(last: 2) { day requests } } }')).usage

async function newKey({ api }: Person, access: string): Promise<{ id: string; client: Api }> {
  const document = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { id key } }'
  const { id, key } = (await api.graphql(document, { input: { name: access, access } })).body.data.createApiKey
  return { id, client: hastyApi(gateway, key) }
}

it('are those that the quota counts, without the ones that a limit or the access of the key refused', async () => {
  const person = await openHere()
  const { client } = await newKey(person, 'send')
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.get('instances')))
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
  const own = hastyApi(gateway, person.apiKey)
  expect((await own.graphql('{ contacts { nodes { id } } }')).body.errors).toBeUndefined()
  const counted = answers.filter(({ status }) => status === 200).length + 1
  expect(await usageOf(person)).toMatchObject({ apiRequestsCount: counted })
  expect(total((await usageOf(person)).days)).toBe(counted)
  expect(total(await daysOf(person.api, 2))).toBe(1)

  const other = await openHere()
  const narrow = await newKey(other, 'send')
  expect((await narrow.client.graphql('{ contacts { nodes { id } } }')).body.errors[0].extensions.code).toBe('FORBIDDEN')
  expect(await usageOf(other)).toMatchObject({ apiRequestsCount: 0, days: [{ requests: 0 }, { requests: 0 }] })
  await sql(databaseUrl).query('update api_usage set "apiRequestsCount" = 1000000000 where "userId" = $1', [other.userId])
  expect((await hastyApi(gateway, other.apiKey).get('me')).body.error.code).toBe('MONTHLY_API_REQUEST_QUOTA_EXCEEDED')
  expect(total((await usageOf(other)).days)).toBe(0)
})

it('have a zero for each day without any, add up in the usage, and stay when the key is revoked', async () => {
  const person = await openHere()
  const team = await openTeam({ databaseUrl, url: gateway.url }, person)
  const inTeam = person.inTeam(team)
  const { body } = await inTeam.post(`/api/teams/${team}/api-keys`, { name: 'Bot' })
  const { rows } = await sql(databaseUrl).query<{ day: string }>(
    `insert into api_key_days ("keyId", day, requests)
     select k.id, (now() at time zone 'utc')::date - 3, 4 from api_keys k where k."userId" = $1 returning day::text`,
    [person.userId],
  )
  const { day } = rows[0] as { day: string }
  const all = 4 * rows.length
  expect(rows.length).toBeGreaterThan(1)
  const days = await daysOf(person.api, 90)
  expect([days.length, days.at(-4)]).toEqual([90, { day, requests: 4 }])
  expect([days.every(({ requests }) => requests !== null), total(days)]).toEqual([true, 4])
  const both = async () => (await ask(person.api, '{ usage { days(last: 4) { day requests } } }')).usage.days
  expect((await both())[0]).toEqual({ day, requests: all })
  expect((await person.api.delete(`/api/teams/${team}/api-keys/${body.data.id}`)).status).toBe(200)
  expect((await both())[0]).toEqual({ day, requests: all })
  const ofRevoked = await ask(person.api, `{ team(id: "${team}") { revokedApiKeys { days(last: 4) { requests } } } }`)
  expect(ofRevoked.team.revokedApiKeys[0].days.map(({ requests }: Day) => requests)).toEqual([4, 0, 0, 0])
  const stranger = await openHere()
  expect(total(await daysOf(stranger.api, 90))).toBe(0)
  expect(total((await ask(stranger.api, '{ usage { days(last: 90) { day requests } } }')).usage.days)).toBe(0)
})

it('are read for all keys of a list by one statement, and for all days of the usage by another', async () => {
  const person = await openHere()
  for (const access of ['full', 'send', 'read']) await newKey(person, access)
  const texts: string[] = []
  const plain = pg.Client.prototype.query
  const counting = function (this: pg.Client, ...args: unknown[]) {
    const [asked] = args
    texts.push(typeof asked === 'string' ? asked : ((asked as { text?: string }).text ?? ''))
    return (plain as (...args: unknown[]) => unknown).apply(this, args)
  }
  pg.Client.prototype.query = counting as typeof plain
  try {
    const { apiKeys } = await ask(person.api, '{ apiKeys { days { requests } } usage { days { requests } } }')
    expect(apiKeys.map(({ days }: { days: Day[] }) => days.length)).toEqual([30, 30, 30, 30])
  } finally {
    pg.Client.prototype.query = plain
  }
  expect(texts.filter((text) => text.includes('api_key_days'))).toHaveLength(2)
})

it('have 1 to 90 days, and are not those of one instance', async () => {
  const { api } = await openHere()
  for (const last of [0, 91]) {
    const { body } = await api.graphql(`{ apiKeys { days(last: ${last}) { day } } }`)
    expect(body.errors[0]).toMatchObject({
      message: expect.stringMatching(/^last: must be /),
      extensions: { code: 'VALIDATION_ERROR' },
    })
  }
  const ofOne = '{ usage { days(last: 1, instanceId: "00000000-0000-4000-8000-000000000000") { sent requests } } }'
  expect((await ask(api, ofOne)).usage.days).toEqual([{ sent: 0, requests: null }])
})

it('are kept for 400 days', async () => {
  const person = await openHere()
  await sql(databaseUrl).query(
    `insert into api_key_days ("keyId", day, requests)
     select k.id, current_date - age, age from api_keys k, unnest('{0, 399, 402}'::int[]) age where k."userId" = $1`,
    [person.userId],
  )
  await pruneAccounts.prune(gateway.app)
  const { rows } = await sql(databaseUrl).query<{ requests: number }>(
    'select d.requests from api_key_days d join api_keys k on k.id = d."keyId" where k."userId" = $1 order by 1',
    [person.userId],
  )
  expect(rows.map(({ requests }) => requests)).toEqual([0, 399])
})
