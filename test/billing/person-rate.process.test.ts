// The rate limit of a signed-in person: 50 requests in any second over all sessions and processes, REST and GraphQL together.
import { beforeAll, describe, expect, it } from 'vitest'
import { newAccount, type Person, signIn } from '../accounts/person.ts'
import { type Answer, type Api, hastyApi } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateways } from '../kit/open-gateway.ts'

let databaseUrl: string
let gateways: readonly [OpenGateway, OpenGateway]

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const env = { PUBLIC_URL: 'http://gateway.example.com', PERSON_RATE_LIMIT_PER_SECOND: undefined }
  gateways = await openGateways({ databaseUrl, env })
})

/** One person with this many sessions, and a client of each session at each of the two processes. */
async function someone(sessions: number): Promise<{ person: Person; clients: Api[] }> {
  const account = await newAccount(databaseUrl)
  const people = [await signIn(gateways[0], account)]
  while (people.length < sessions) people.push(await signIn(gateways[0], account))
  const clients = people.flatMap(({ token }) =>
    gateways.map((at) => hastyApi(at, undefined, { authorization: `Bearer ${token}` })),
  )
  return { person: people[0] as Person, clients }
}

/** Fills the window with this many requests, dated an hour ahead so that they stay in it however slow the test is. */
async function fill({ userId }: Person, requests: number): Promise<void> {
  await sql(databaseUrl).query(
    `insert into rate_windows ("keyId", at, counts, granted)
     values ($1, array[((extract(epoch from now()) + 3600) * 1000)::bigint], array[$2::int], 0)
     on conflict ("keyId") do update set at = excluded.at, counts = excluded.counts`,
    [userId, requests],
  )
}

const codeOf = ({ status, body }: Answer): string =>
  `${status} ${body.error?.code ?? body.errors?.[0].extensions.code ?? ''}`.trimEnd()
const tooFast = '429 API_RATE_LIMIT_EXCEEDED'

/** Requests that a person may send: each counts as one. */
const asks: [name: string, ask: (client: Api) => Promise<Answer>][] = [
  ['REST', (client) => client.get('/api/me')],
  ['GraphQL', (client) => client.graphql('{ me { id } }')],
  ['a route about themselves', (client) => client.get('/api/api-keys')],
  ['an event stream', (client) => client.get('/api/events/stream?types=none')],
  ['a request that is not valid', (client) => client.get('/api/messages?limit=0')],
]

describe('the rate limit of a person', () => {
  it.each(asks)('admits the 50th request and refuses the next, in every session and process: %s', async (_, ask) => {
    const { person, clients } = await someone(2)
    await fill(person, 49)
    expect(codeOf(await ask(clients[0] as Api))).not.toBe(tooFast)
    await fill(person, 50)
    for (const client of clients) {
      const answer = await ask(client)
      expect(codeOf(answer)).toBe(tooFast)
      const outcome = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']
      expect(outcome.map((name) => answer.headers.get(name))).toEqual(['1', '50', '0', '1'])
    }
    // Refused requests are not counted.
    const { rows } = await sql(databaseUrl).query('select counts from rate_windows where "keyId" = $1', [person.userId])
    expect(rows).toEqual([{ counts: [50] }])
  })

  it('holds in any second over two processes and two sessions', async () => {
    const { clients } = await someone(2)
    const asked: { sentAt: number; answeredAt: number; answer: Answer }[] = []
    const passed = () => asked.filter(({ answer }) => answer.status === 200)
    // Each loop sends again as soon as it is answered, refused or not, until more than two windows have been filled.
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        while (passed().length < 120) {
          const sentAt = performance.now()
          const answer = await (clients[i % clients.length] as Api).get('/api/me')
          asked.push({ sentAt, answeredAt: performance.now(), answer })
        }
      }),
    )
    expect(new Set(asked.map(({ answer }) => codeOf(answer)).filter((code) => code !== tooFast))).toEqual(new Set(['200']))
    const through = passed().sort((a, b) => a.answeredAt - b.answeredAt)
    // Each was admitted between its sending and its answer: 51 of them within less than a second would be one too many.
    for (let i = 50; i < through.length; i++) {
      const some = through.slice(i - 50, i + 1)
      const span = Math.max(...some.map((one) => one.answeredAt)) - Math.min(...some.map((one) => one.sentAt))
      expect(span).toBeGreaterThan(1_000)
    }
  })

  it('never counts more than 50 when concurrent requests exceed the remaining capacity', async () => {
    const { person, clients } = await someone(2)
    await fill(person, 48)
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => (clients[i % 4] as Api).get('/api/me')))
    const through = answers.filter(({ status }) => status === 200).length
    // On a very slow machine, requests older than a second leave the window again, so more than two may pass.
    expect(through).toBeGreaterThanOrEqual(2)
    const { rows } = await sql(databaseUrl).query<{ counts: number[] }>('select counts from rate_windows where "keyId" = $1', [
      person.userId,
    ])
    expect(rows[0]?.counts.reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(50)
  })

  it('is separate for each person, and requests to a team that is not theirs are not counted', async () => {
    const [one, other] = [await someone(1), await someone(1)]
    await fill(one.person, 50)
    expect((await other.clients[0]?.get('/api/me'))?.status).toBe(200)
    for (const team of [other.person.userId, 'no id']) {
      const answer = (await one.clients[0]?.get('/api/instances', { 'x-team-id': team })) as Answer
      expect(codeOf(answer)).toBe('404 TEAM_NOT_FOUND')
    }
  })

  it("counts a request with a team's id once, also if it is about the account", async () => {
    const { person, clients } = await someone(1)
    const [client] = clients as [Api]
    const { id } = (await client.post('/api/teams', { name: 'Crew' })).body.data
    for (const text of ['{ me { id } }', '{ plans { code } }', '{ instances { id } }']) {
      await fill(person, 10)
      const answer = await client.post('/graphql', { query: text }, { 'x-team-id': id })
      expect(codeOf(answer)).toBe('200')
      const { rows } = await sql(databaseUrl).query<{ counts: number[] }>('select counts from rate_windows where "keyId" = $1', [
        person.userId,
      ])
      expect([text, rows[0]?.counts.reduce((sum, n) => sum + n, 0)]).toEqual([text, 11])
    }
  })

  it('does not count sign-in requests, which have a separate window', async () => {
    const { person, clients } = await someone(1)
    const [client] = clients as [Api]
    await fill(person, 50)
    expect((await client.get('/api/auth/sessions')).status).toBe(200)
    expect((await hastyApi(gateways[0]).post('/api/auth/token', undefined, { cookie: person.cookie })).status).toBe(200)
    // The newest window that belongs to no user is the sign-in window of the two requests above.
    const { rows } = await sql(databaseUrl).query<{ id: string }>(
      `select "keyId" as id from rate_windows where "keyId" <> $1 and not exists (select from users u where u.id = "keyId")
       order by (select max(t) from unnest(at) t) desc limit 1`,
      [person.userId],
    )
    await fill({ ...person, userId: rows[0]?.id as string }, 50)
    for (const answer of [
      await client.get('/api/auth/sessions'),
      await client.delete('/api/auth/sessions/01900000-0000-7000-8000-000000000000'),
      await hastyApi(gateways[1]).post('/api/auth/token', undefined, { cookie: person.cookie }),
    ]) {
      expect(codeOf(answer)).toBe(tooFast)
      expect(answer.headers.get('retry-after')).toBe('1')
    }
    await sql(databaseUrl).query('delete from rate_windows where "keyId" = $1', [person.userId])
    expect((await client.get('/api/me')).status).toBe(200)
  })
})
