// Billing roles: which team members may read and change what, by the header, by the path and over GraphQL.
import { beforeAll, describe, expect, it } from 'vitest'
import { createTeam } from '../../src/teams/service.ts'
import { changes, checkoutsOf, openPerson, openTeam, type Person, reads, rowOf, type Site, ways } from '../billing/rig.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { expectRefusal, nobody } from './rig.ts'

let site: Site
let people: Record<'owner' | 'admin' | 'collaborator' | 'stranger', Person>
let teamId: string

beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  const { url } = await openGateway({ databaseUrl, env: { ROLES: 'http', RATE_LIMIT_PER_SECOND: '100000' } })
  site = { databaseUrl, url }
  const [owner, admin, collaborator, stranger] = await Promise.all([
    openPerson(site, 'pro'),
    openPerson(site, 'free'),
    openPerson(site, 'free'),
    openPerson(site, 'max'),
  ])
  people = { owner, admin, collaborator, stranger } as typeof people
  teamId = await openTeam(site, people.owner, [
    [people.admin, 'admin'],
    [people.collaborator, 'collaborator'],
  ])
  await sql(databaseUrl).query(
    `insert into payments (id, "userId", "amountCents", currency, status, description) values (gen_random_uuid(), $1, 1900, 'EUR', 'paid', 'Pro')`,
    [people.owner.userId],
  )
})

describe.each(ways)('%s', (_, ask) => {
  it('the owner reads all billing of the team, which is their own', async () => {
    for (const family of reads) expect(await ask(people.owner, teamId, family)).toMatchObject({ code: 'ok' })
    expect((await ask(people.owner, teamId, 'subscription')).data.plan.code).toBe('pro')
    expect((await ask(people.owner, teamId, 'payments')).data).toMatchObject([{ amount: 19, currency: 'EUR', status: 'paid' }])
  })

  it('an admin reads the subscription and the usage of the owner', async () => {
    expect((await ask(people.admin, teamId, 'subscription')).data.plan.code).toBe('pro')
    expect((await ask(people.admin, teamId, 'usage')).data.plan.code).toBe('pro')
  })

  it('an admin may not read the payments', async () => {
    expect((await ask(people.admin, teamId, 'payments')).code).toBe('BILLING_PAYMENTS_TEAM_OWNER_ONLY')
  })

  it('a collaborator may read neither the subscription nor the usage', async () => {
    expect((await ask(people.collaborator, teamId, 'subscription')).code).toBe('FORBIDDEN')
    expect((await ask(people.collaborator, teamId, 'usage')).code).toBe('FORBIDDEN')
  })

  it('a collaborator may not read the payments, with the same error code as an admin', async () => {
    expect((await ask(people.collaborator, teamId, 'payments')).code).toBe('BILLING_PAYMENTS_TEAM_OWNER_ONLY')
  })

  it('every member reads the plans', async () => {
    for (const person of [people.owner, people.admin, people.collaborator])
      expect((await ask(person, teamId, 'plans')).data).toHaveLength(3)
  })

  it.each(changes)('only the owner may %s: an admin and a collaborator are refused', async (change) => {
    for (const person of [people.admin, people.collaborator])
      expect((await ask(person, teamId, change)).code).toBe('BILLING_TEAM_MUTATION_FORBIDDEN')
    expect(await rowOf(site, people.owner)).toMatchObject({ plan: 'pro', status: 'active' })
    for (const person of [people.admin, people.owner]) expect(await checkoutsOf(site, person)).toEqual([])
  })

  it('a non-member gets TEAM_NOT_FOUND for the team, as for one that does not exist', async () => {
    for (const family of ['subscription', 'usage', 'payments', ...changes] as const) {
      for (const team of [teamId, nobody, 'nonsense'])
        expect((await ask(people.stranger, team, family)).code, family).toBe('TEAM_NOT_FOUND')
    }
  })

  it('a request without a team acts on the billing of the caller', async () => {
    expect((await ask(people.collaborator, null, 'subscription')).data.plan.code).toBe('free')
    expect((await ask(people.stranger, null, 'payments')).data).toEqual([])
    expect((await ask(people.admin, null, 'cancel')).code).toBe('INVALID_STATE')
  })

  it('a checkout is validated before the role is checked', async () => {
    for (const plan of ['free', 'gold', 7, null, undefined]) {
      const { code, message } = await ask(people.admin, teamId, 'checkout', { plan })
      expect({ code, message }).toEqual({ code: 'VALIDATION_ERROR', message: expect.stringMatching(/\bplan: /) })
    }
  })
})

it('uses the team in the path, whatever the header says', async () => {
  const other = await openTeam(site, people.stranger, [[people.admin, 'admin']])
  const answer = await people.admin.api.get(`/api/teams/${other}/billing/subscription`, { 'x-team-id': teamId })
  expect(answer.body.data.plan.code).toBe('max')
})

describe('an API key', () => {
  it('cannot change billing over REST or GraphQL', async () => {
    const client = api(site, people.owner.apiKey)
    const mutations = ['checkout(input: { plan: max }) { id }', 'cancelSubscription { status }', 'resumeSubscription { status }']
    for (const mutation of mutations) {
      const { body } = await client.graphql(`mutation { ${mutation} }`)
      expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
    }
    for (const change of changes) {
      expect((await client.post(`/api/billing/${change}`, { plan: 'max' })).status).toBe(401)
      expect((await client.post(`billing/${change}`, { plan: 'max' })).status).toBe(404)
    }
    expect(await rowOf(site, people.owner)).toMatchObject({ plan: 'pro', status: 'active' })
  })

  it('reads the billing of its person, but as a team key only the plans', async () => {
    expect((await api(site, people.owner.apiKey).get('billing/payments')).body.data).toHaveLength(1)
    const team = await createTeam(prisma(site.databaseUrl), { ownerEmail: people.stranger.email, name: 'Keyed' })
    const client = api(site, team.apiKey, { 'x-team-id': team.teamId })
    for (const family of ['subscription', 'usage', 'payments'])
      expectRefusal(await client.get(`billing/${family}`), 403, 'TEAM_KEY_NOT_ALLOWED')
    expect((await client.get('billing/plans')).status).toBe(200)
    const { body } = await client.graphql('mutation { cancelSubscription { status } }')
    expect(body.errors[0].extensions.code).toBe('TEAM_KEY_NOT_ALLOWED')
  })
})
