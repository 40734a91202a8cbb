// Races that an attacker could start on purpose across two processes: the last place of a plan, a seat, a role.
import { beforeAll, describe, expect, it } from 'vitest'
import { newPerson, openTwo, type Person } from '../accounts/person.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { type Crew, invited, join, newCrew, newTeam, type Rig } from './rig.ts'

let two: Awaited<ReturnType<typeof openTwo>>
let rig: Rig

beforeAll(async () => {
  two = await openTwo()
  rig = { databaseUrl: two.databaseUrl, gateway: two.gateways[0], mailDir: '' }
})

/** The person's client at process n modulo 2. */
const at = (n: number, { token }: Person) =>
  api(two.gateways[n % 2] as { url: string }, undefined, { authorization: `Bearer ${token}` })

describe('a plan limit under concurrency', () => {
  const url = 'https://example.com/hook'
  it.each<[string, 'free' | 'pro', string, (i: number) => unknown, number, string]>([
    ['instances', 'free', '/api/instances', (i) => ({ name: `Phone ${i}` }), 1, 'MAX_INSTANCES_REACHED'],
    ['webhook endpoints', 'free', '/api/webhooks', () => ({ url, events: ['message.sent'] }), 3, 'MAX_WEBHOOK_ENDPOINTS_REACHED'],
    ['contact groups', 'free', '/api/contacts/groups', (i) => ({ name: `Group ${i}` }), 10, 'MAX_CONTACT_GROUPS_REACHED'],
    // The account already has one of the five.
    ['API keys', 'pro', '/api/api-keys', (i) => ({ name: `Key ${i}` }), 4, 'MAX_API_KEYS_REACHED'],
    ['teams', 'pro', '/api/teams', (i) => ({ name: `Team ${i}` }), 2, 'MAX_TEAMS_REACHED'],
  ])('is never exceeded by %s, however many requests run concurrently', async (_, plan, path, body, most, refusal) => {
    const person = await newPerson(two.gateways[0], two.databaseUrl, plan)
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => at(i, person).post(path, body(i))))
    const codes = answers.map(({ status, body }) => body.error?.code ?? status)
    expect(codes.filter((code) => code === 201)).toHaveLength(most)
    expect(codes.filter((code) => code === refusal)).toHaveLength(20 - most)
  })
})

describe('a plan that is downgraded concurrently', () => {
  it.each<[string, string, (i: number) => unknown, number]>([
    ['instances', '/api/instances', (i) => ({ name: `Phone ${i}` }), 1],
    ['contact groups', '/api/contacts/groups', (i) => ({ name: `Group ${i}` }), 10],
    // The free plan has one API key, and the account was created with it.
    ['API keys', '/api/api-keys', (i) => ({ name: `Key ${i}` }), 0],
  ])('limits %s whose requests were already waiting during the downgrade', async (_, path, body, most) => {
    const person = await newPerson(two.gateways[0], two.databaseUrl, 'max')
    const client = await sql(two.databaseUrl).connect()
    try {
      await client.query('begin')
      await client.query(`update subscriptions set plan = 'free' where "userId" = $1`, [person.userId])
      const asked = Array.from({ length: 20 }, (_, i) => at(i, person).post(path, body(i)))
      await until(async () => {
        const { rows } = await client.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return (rows[0]?.n ?? 0) >= 2
      })
      await client.query('commit')
      const statuses = (await Promise.all(asked)).map(({ status }) => status)
      expect(statuses.filter((status) => status === 201)).toHaveLength(most)
    } finally {
      client.release(true)
    }
  })
})

describe('two concurrent changes of the same member', () => {
  const rounds = [0, 1, 2, 3, 4, 5]
  const members = async (teamId: string, { userId }: Person) =>
    (await sql(two.databaseUrl).query('select from team_members where "teamId" = $1 and "userId" = $2', [teamId, userId]))
      .rowCount

  let crew: Crew
  beforeAll(async () => {
    crew = await newCrew(rig)
  })

  it('either accept an invitation or revoke it, never both', async () => {
    for (const round of rounds) {
      const { teamId } = await newTeam(rig, crew.owner)
      const guest = await newPerson(two.gateways[0], two.databaseUrl)
      const { id, token } = await invited(rig, teamId, guest.email)
      const [accepted, revoked] = await Promise.all([
        at(round, guest).post('/api/teams/invitations/accept', { token }),
        at(round + 1, crew.owner).delete(`/api/teams/${teamId}/invitations/${id}`),
      ])
      const outcome = [accepted.body.error?.code ?? accepted.status, revoked.body.error?.code ?? revoked.status]
      expect([
        [200, 'INVALID_STATE'],
        ['INVALID_TOKEN', 200],
      ]).toContainEqual(outcome)
      expect(await members(teamId, guest)).toBe(accepted.status === 200 ? 1 : 0)
    }
  })

  it('never give a role to a member who is being removed', async () => {
    for (const round of rounds) {
      const { teamId, owner, admin, collaborator } = crew
      const of = `/api/teams/${teamId}/members/${collaborator.userId}`
      const [changed, removed] = await Promise.all([at(round, owner).put(of, { role: 'admin' }), at(round + 1, admin).delete(of)])
      expect(removed.status).toBe(200)
      expect([200, 404]).toContain(changed.status)
      expect(await members(teamId, collaborator)).toBe(0)
      expect((await at(round, collaborator).get(`/api/teams/${teamId}`)).status).toBe(404)
      await join(rig, teamId, collaborator, 'collaborator')
    }
  })

  it('leave one of two admins who remove each other', async () => {
    const { teamId, owner, admin, collaborator } = crew
    await at(0, owner).put(`/api/teams/${teamId}/members/${collaborator.userId}`, { role: 'admin' })
    for (const round of rounds) {
      const removed = await Promise.all([
        at(round, admin).delete(`/api/teams/${teamId}/members/${collaborator.userId}`),
        at(round + 1, collaborator).delete(`/api/teams/${teamId}/members/${admin.userId}`),
      ])
      expect(removed.map(({ status }) => status).sort()).toEqual([200, 404])
      const left = await Promise.all([admin, collaborator].map((who) => members(teamId, who)))
      expect([...left].sort()).toEqual([0, 1])
      await join(rig, teamId, left[0] === 0 ? admin : collaborator, 'admin')
    }
  })
})
