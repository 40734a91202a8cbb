// The rate of a person who is signed in: 50 requests in any second over all sessions and processes, REST and GraphQL together.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { newAccount, type Person, signIn } from '../accounts/person.ts'
import { type Answer, api, cloneDatabase, type Gateway, promptly, sql, startGateway } from '../kit/kit.ts'

let databaseUrl: string
let gateways: [Gateway, Gateway]

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const env = { PUBLIC_URL: 'http://gateway.example.com', PERSON_RATE_LIMIT_PER_SECOND: undefined }
  const start = () => startGateway({ databaseUrl, env })
  gateways = await Promise.all([start(), start()])
})

/** One person with that many sessions, each at both processes. */
async function someone(sessions: number): Promise<{ person: Person; clients: ReturnType<typeof api>[] }> {
  const account = await newAccount(databaseUrl)
  const people = [await signIn(gateways[0], account)]
  while (people.length < sessions) people.push(await signIn(gateways[0], account))
  const clients = people.flatMap(({ token }) => gateways.map((at) => api(at, undefined, { authorization: `Bearer ${token}` })))
  return { person: people[0] as Person, clients }
}

const codeOf = ({ status, body }: Answer): string =>
  `${status} ${body.error?.code ?? body.errors?.[0].extensions.code ?? ''}`.trimEnd()

function counted(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const answer of answers) counts[codeOf(answer)] = (counts[codeOf(answer)] ?? 0) + 1
  return counts
}

/** All at once, by a new person each time, until all is answered within one second. */
async function inOneSecond(ask: (clients: ReturnType<typeof api>[], person: Person) => Promise<Answer>[]): Promise<Answer[]> {
  const timed = async () => {
    const { clients, person } = await someone(3)
    const begun = performance.now()
    const answers = await Promise.all(ask(clients, person))
    return { answers, ms: performance.now() - begun }
  }
  return (await promptly(timed, { withinMs: 1_000, tookMs: ({ ms }) => ms, patienceMs: 60_000 })).answers
}

describe('the rate of a person', () => {
  it('is 50 in a second over three sessions, two processes, REST and GraphQL', { timeout: 90_000 }, async () => {
    const answers = await inOneSecond((clients) =>
      Array.from({ length: 72 }, (_, i) => {
        const client = clients[i % clients.length] as ReturnType<typeof api>
        return Math.floor(i / clients.length) % 2 ? client.graphql('{ me { id } }') : client.get('/api/me')
      }),
    )
    expect(counted(answers)).toEqual({ 200: 50, '429 API_RATE_LIMIT_EXCEEDED': 22 })
    for (const { status, headers } of answers) {
      expect(headers.get('ratelimit-limit')).toBe('50')
      expect(headers.get('ratelimit-reset')).toBe('1')
      expect(headers.get('retry-after')).toBe(status === 429 ? '1' : null)
      if (status === 429) expect(headers.get('ratelimit-remaining')).toBe('0')
    }
  })

  it('holds in any second, and what is refused takes nothing', { timeout: 90_000 }, async () => {
    const { clients } = await someone(2)
    const asked: { sentAt: number; answeredAt: number; answer: Answer }[] = []
    // Each asks again as soon as it is answered, refused or not, until more than two windows have been filled.
    const passed = () => asked.filter(({ answer }) => answer.status === 200)
    const until = performance.now() + 60_000
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const client = clients[i % clients.length] as ReturnType<typeof api>
        while (passed().length < 120 && performance.now() < until) {
          const sentAt = performance.now()
          const answer = await client.get('/api/me')
          asked.push({ sentAt, answeredAt: performance.now(), answer })
        }
      }),
    )
    const through = passed().sort((a, b) => a.answeredAt - b.answeredAt)
    expect(through.length).toBeGreaterThanOrEqual(120)
    for (let i = 50; i < through.length; i++) {
      const some = through.slice(i - 50, i + 1)
      const span = Math.max(...some.map((one) => one.answeredAt)) - Math.min(...some.map((one) => one.sentAt))
      expect(span).toBeGreaterThan(1_000)
    }
  })

  it('is each person’s own, and a stream or a team takes of the same', { timeout: 90_000 }, async () => {
    const other = await someone(1)
    const answers = await inOneSecond((clients, person) => {
      const [client] = clients as [ReturnType<typeof api>]
      return [
        ...Array.from({ length: 50 }, () => client.get('/api/api-keys')),
        ...Array.from({ length: 4 }, () => client.get('/api/events/stream?types=none')),
        ...Array.from({ length: 4 }, () => client.get('/api/instances', { 'x-team-id': person.userId })),
        ...Array.from({ length: 4 }, () => client.get('/api/instances', { 'x-team-id': 'no id' })),
        other.clients[0]?.get('/api/me') as Promise<Answer>,
      ]
    })
    const counts = counted(answers)
    // A team that is not theirs takes nothing; of the others 50 get through, whichever they are.
    expect(counts['404 TEAM_NOT_FOUND']).toBe(8)
    expect(counts['429 API_RATE_LIMIT_EXCEEDED']).toBe(4)
    expect((counts['200'] ?? 0) + (counts['400 VALIDATION_ERROR'] ?? 0)).toBe(51)
    expect(answers.at(-1)?.status).toBe(200)
  })

  it('does not count sign-in, which has a window of its own', { timeout: 90_000 }, async () => {
    const answers = await inOneSecond((clients, person) => [
      ...Array.from({ length: 55 }, (_, i) => (clients[i % 2] as ReturnType<typeof api>).get('/api/auth/sessions')),
      ...Array.from({ length: 3 }, () => api(gateways[0]).post('/api/auth/token', undefined, { cookie: person.cookie })),
      ...Array.from({ length: 10 }, () => (clients[0] as ReturnType<typeof api>).get('/api/me')),
    ])
    expect(counted(answers)).toEqual({ 200: 60, '429 API_RATE_LIMIT_EXCEEDED': 8 })
    expect(answers.slice(-10).map(({ status }) => status)).toEqual(Array(10).fill(200))
  })

  it('keeps one small row a person', async () => {
    const { person, clients } = await someone(1)
    for (let i = 0; i < 3; i++) await clients[0]?.get('/api/me')
    const { rows } = await sql(databaseUrl).query(
      'select cardinality(at) <= 50 as small, granted from rate_windows where "keyId" = $1',
      [person.userId],
    )
    expect(rows).toEqual([{ small: true, granted: 1 }])
    expect(
      (await api(gateways[0], undefined, { authorization: 'Bearer x' }).get('/api/me')).headers.get('ratelimit-limit'),
    ).toBeNull()
    expect((await clients[0]?.get('/api/instances', { 'x-team-id': newId() }))?.headers.get('ratelimit-limit')).toBe('50')
  })
})
