// A change to a plan too small for the owner's teams is refused with the exact excess, even while teams are being created.
import { beforeAll, describe, expect, it } from 'vitest'
import { changePlan } from '../../src/billing/change-plan.ts'
import { planOf } from '../../src/billing/plans.ts'
import { setPlan } from '../../src/billing/service.ts'
import { faultOfTeams } from '../../src/billing/team-fit.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { codeOf } from '../../src/core/errors.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { checkoutsOf, invite, openPerson, openTeam, type Person, rowOf, type Site, ways } from './rig.ts'

let site: Site

beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  const { url } = await openGateway({ databaseUrl, env: { ROLES: 'http' } })
  site = { databaseUrl, url }
})

const blocked = 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS'

async function deleteTeam(teamId: string): Promise<void> {
  await sql(site.databaseUrl).query('update teams set "deletedAt" = now() where id = $1', [teamId])
}

describe.each(ways)('%s', (_, ask) => {
  it('refuses an order of a plan with fewer teams until enough teams are deleted', async () => {
    const owner = await openPerson(site, 'max')
    const teams = await Promise.all(['A', 'B', 'C'].map((name) => openTeam(site, owner, [], name)))
    expect(await ask(owner, null, 'checkout', { plan: 'pro' })).toMatchObject({
      code: blocked,
      message: expect.stringMatching(/^Pro has 2 teams of 4 seats and you own 3: delete 1 of /),
    })
    expect(await checkoutsOf(site, owner)).toEqual([])
    await deleteTeam(teams[0] as string)
    expect(await ask(owner, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'ok' })
  })

  it('refuses an order of a plan with fewer seats until seats are freed; open invitations take seats', async () => {
    const owner = await openPerson(site, 'max')
    const teamId = await openTeam(site, owner, [], 'Support')
    for (let i = 0; i < 3; i++) await invite(site, teamId)
    // Expired and revoked invitations hold no seat.
    await invite(site, teamId, '-1 minute')
    await invite(site, teamId, '1 day', 'revoked')
    expect(await ask(owner, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'ok' })
    await invite(site, teamId)
    expect(await ask(owner, null, 'checkout', { plan: 'pro' })).toEqual({
      code: blocked,
      message: 'Pro has 4 seats in a team, open invitations included: reduce Support from 5 to 4',
      data: null,
    })
  })

  it('treats cancelling as a change to Free, which has no teams', async () => {
    const owner = await openPerson(site, 'pro')
    const teamId = await openTeam(site, owner, [], 'Only')
    expect(await ask(owner, teamId, 'cancel')).toEqual({
      code: blocked,
      message: 'Free has no teams and you own 1: delete 1 of Only',
      data: null,
    })
    expect(await rowOf(site, owner)).toMatchObject({ status: 'active', cancelAtPeriodEnd: false })
    await deleteTeam(teamId)
    expect(await ask(owner, null, 'cancel')).toMatchObject({ code: 'ok' })
  })

  it('accepts an order of a larger plan', async () => {
    const owner = await openPerson(site, 'pro')
    const teamId = await openTeam(site, owner)
    await openTeam(site, owner)
    expect(await ask(owner, teamId, 'checkout', { plan: 'max' })).toMatchObject({ code: 'ok' })
  })
})

it('refuses the operator a plan that is too small for the teams', async () => {
  const owner = await openPerson(site, 'pro')
  await openTeam(site, owner)
  const change = setPlan(prisma(site.databaseUrl), { email: owner.email, plan: 'free' })
  await expect(change.catch((error) => Promise.reject(codeOf(error)))).rejects.toBe(blocked)
  expect(await rowOf(site, owner)).toMatchObject({ plan: 'pro' })
})

it('names every team that is too large', () => {
  const teams = [
    { name: 'A', seats: 8 },
    { name: 'B', seats: 4 },
    { name: 'C', seats: 5 },
  ]
  expect(faultOfTeams(planOf('pro'), teams.slice(1))).toMatch(/reduce C from 5 to 4$/)
  expect(faultOfTeams(planOf('pro'), [teams[0], teams[2]] as typeof teams)).toMatch(/reduce A from 8 to 4, C from 5 to 4$/)
  expect(faultOfTeams(planOf('max'), teams)).toBeNull()
  expect(faultOfTeams(planOf('free'), [])).toBeNull()
})

describe('while teams are being created', () => {
  /** Queues both requests on the subscription's row lock, so that the first gets it next; returns their outcomes in order. */
  async function behind(owner: Person, first: () => Promise<string>, second: () => Promise<string>): Promise<string[]> {
    return await whileHeld(
      site.databaseUrl,
      ['select from subscriptions where "userId" = $1 for update', owner.userId],
      [first, second],
    )
  }

  it('allows either a downgrade or the team that would not fit, never both, whichever comes first', async () => {
    for (const round of ['team', 'downgrade', 'team', 'downgrade']) {
      const owner = await openPerson(site, 'max')
      await openTeam(site, owner)
      await openTeam(site, owner)
      const team = async () => {
        const { body } = await owner.api.post('/api/teams', { name: 'Raced' })
        return body.error ? body.error.code : 'team'
      }
      const downgrade = () =>
        sqlTransaction(sql(site.databaseUrl), (tx) => changePlan(tx, owner.userId, { to: 'pro' })).then(
          () => 'downgrade',
          (error) => codeOf(error) ?? String(error),
        )
      const outcome = round === 'team' ? await behind(owner, team, downgrade) : await behind(owner, downgrade, team)
      expect(outcome).toEqual(round === 'team' ? ['team', blocked] : ['downgrade', 'MAX_TEAMS_REACHED'])
      const { plan } = await rowOf(site, owner)
      expect(plan).toBe(round === 'team' ? 'max' : 'pro')
    }
  })
})
