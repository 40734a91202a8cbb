// Limits on invitations: nobody can make the gateway mail strangers without end, and everyday use never reaches a limit.
import { beforeAll, describe, expect, it } from 'vitest'
import { transaction } from '../../src/core/database/transaction.ts'
import { codeOf, retryAfterOf } from '../../src/core/errors.ts'
import { newId } from '../../src/core/id.ts'
import { takeInvitation } from '../../src/teams/invitation-budget.ts'
import { signIn } from '../accounts/person.ts'
import { prisma, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { type Ask, newPerson, newTeam, openRig, type Rig, surfaces, tokenTo } from './rig.ts'

let rig: Rig

beforeAll(() => {
  rig = openRig()
})

const stranger = () => `${newId()}@example.com`

/** Invites strangers and revokes each invitation until one is refused; returns the addresses invited and the refusal. */
async function loop(ask: Ask, who: Parameters<Ask>[0], teamId: string, most = 12) {
  const sent: string[] = []
  for (;;) {
    const email = stranger()
    const outcome = await ask(who, 'POST /teams/:teamId/invitations', [teamId], { email, role: 'collaborator' })
    if (outcome.code !== null || sent.length === most) return { sent, outcome }
    sent.push(email)
    await ask(who, 'DELETE /teams/:teamId/invitations/:id', [teamId, outcome.data.id])
  }
}

interface Count {
  inviterId: string
  sessionId: string | null
  email: string
  team: { id: string; ownerId: string; workspaceId: string; name: string }
}

const aTeam = (ownerId = newId()) => ({ id: newId(), ownerId, workspaceId: newId(), name: 'Team' })
const anyone = (): Count => ({ inviterId: newId(), sessionId: null, email: stranger(), team: aTeam() })

/** Counts one invitation as the gateway does; returns the error of a refusal, or null. */
async function count(invitation: Partial<Count>): Promise<Error | null> {
  const one = { ...anyone(), ...invitation }
  return await transaction(prisma(rig.databaseUrl), (tx) => takeInvitation(tx, one)).then(
    () => null,
    (error: Error) => error,
  )
}

/** Counts invitations until one is refused; returns how many were allowed and the error. */
async function exhaust(next: () => Partial<Count>): Promise<{ most: number; error: Error }> {
  for (let most = 0; ; most++) {
    const error = await count(next())
    if (error) return { most, error }
  }
}

/** The number of counters that an invitation of that kind takes: those that its transaction wrote, because others use the table meanwhile. */
async function countersTaken(invitation: Partial<Count>): Promise<number> {
  return await transaction(prisma(rig.databaseUrl), async (tx) => {
    await takeInvitation(tx, { ...anyone(), ...invitation })
    return (await tx.query('select from email_counts where xmin = pg_current_xact_id()::xid')).rowCount ?? 0
  })
}

describe.each(surfaces)('invitations to strangers %s', (_, ask) => {
  it('stop after 40 in an hour for a team, though each was revoked, and the refused one leaves no trace', async () => {
    const owner = await newPerson(rig)
    const { teamId, workspaceId } = await newTeam(rig, owner)
    const team = { id: teamId, ownerId: owner.userId, workspaceId, name: 'Team' }
    for (let i = 0; i < 35; i++) expect(await count({ team })).toBe(null)
    const { sent, outcome } = await loop(ask, owner, teamId)
    expect([sent.length, outcome.code]).toEqual([5, 'API_RATE_LIMIT_EXCEEDED'])
    expect(outcome.message).toBe('The team has sent too many invitations; try again later')
    if (outcome.answer.body.error) {
      expect(outcome.answer.status).toBe(429)
      expect(Number(outcome.answer.headers.get('retry-after'))).toBeGreaterThan(60)
      expect(Number(outcome.answer.headers.get('retry-after'))).toBeLessThanOrEqual(3_600)
    }
    expect((await ask(owner, 'GET /teams/:teamId/invitations', [teamId])).data).toEqual([])
    await tokenTo(rig, sent.at(-1) as string)
    const other = await newPerson(rig)
    const { teamId: theirs } = await newTeam(rig, other)
    const body = { email: stranger(), role: 'admin' }
    expect((await ask(other, 'POST /teams/:teamId/invitations', [theirs], body)).code).toBe(null)
  })

  it('stop after 50 in an hour for one person, though the teams were deleted', async () => {
    const owner = await newPerson(rig)
    for (let i = 0; i < 45; i++) expect(await count({ inviterId: owner.userId })).toBe(null)
    for (const left of [5, 0]) {
      const { data } = await ask(owner, 'POST /teams', [], { name: 'Again' })
      const { sent, outcome } = await loop(ask, owner, data.id)
      expect([sent.length, outcome.code]).toEqual([left, 'API_RATE_LIMIT_EXCEEDED'])
      expect(outcome.message).toBe('You have sent too many invitations; try again later')
      expect((await ask(owner, 'DELETE /teams/:teamId', [data.id])).code).toBe(null)
    }
  })

  it('reach one address at most ten times in an hour, across all teams and owners', async () => {
    const name = newId()
    const outcome: (string | null)[] = []
    for (let i = 0; i < 3; i++) {
      const owner = await newPerson(rig)
      const { teamId } = await newTeam(rig, owner)
      for (let j = 0; j < 6; j++) {
        // Addresses that differ only in their plus tag are the same mailbox.
        const email = j % 2 ? `${name}@example.com` : `${name}+${j}@example.com`
        const { code, data } = await ask(owner, 'POST /teams/:teamId/invitations', [teamId], { email, role: 'admin' })
        outcome.push(code)
        if (code === null) await ask(owner, 'DELETE /teams/:teamId/invitations/:id', [teamId, data.id])
      }
    }
    const five = [...Array<null>(5).fill(null), 'API_RATE_LIMIT_EXCEEDED']
    expect(outcome).toEqual([...five, ...five, ...Array<string>(6).fill('API_RATE_LIMIT_EXCEEDED')])
  })
})

describe('the invitation counter', () => {
  const inFull = (most: number, words: RegExp) => ({
    most,
    error: expect.objectContaining({ message: expect.stringMatching(words) }),
  })

  it('counts per team, across all teams of one owner, and per address in a team', async () => {
    const team = aTeam()
    expect(await exhaust(() => ({ team }))).toEqual(inFull(40, /^The team /))
    expect(await exhaust(() => ({ team: aTeam(team.ownerId) }))).toEqual(inFull(60, /^The teams of this owner /))
    const one = { team: aTeam(), email: stranger() }
    expect(await exhaust(() => one)).toEqual(inFull(5, /has received too many invitations/))
  })

  it('counts per public network: an IPv4 address, or the first 64 bits of an IPv6 address', async () => {
    const person = await newPerson(rig)
    const from = async (address: string) => {
      const { rows } = await sql(rig.databaseUrl).query<{ id: string }>(
        `insert into auth_sessions (id, token, "userId", "expiresAt", "ipAddress") values ($1, $2, $3, now(), $4) returning id`,
        [newId(), newId(), person.userId, address],
      )
      return rows[0]?.id as string
    }
    const network = [await from('2a01:4f8:1:2::7'), await from('2a01:4f8:1:2:ffff::8')]
    let turn = 0
    expect(await exhaust(() => ({ sessionId: network[turn++ % 2] }))).toEqual(inFull(100, /^Too many invitations were sent from/))
    expect(await count({ sessionId: await from('2a01:4f8:1:3::7') })).toBe(null)
    const v4 = await from('93.184.215.14')
    expect((await exhaust(() => ({ sessionId: v4 }))).most).toBe(100)
    expect(await count({ sessionId: await from('::ffff:93.184.215.14') })).not.toBe(null)
    // An address that is not public has no counter, so that nothing ever limits it.
    const usual = await countersTaken({})
    expect(await countersTaken({ sessionId: await from('93.184.216.34') })).toBe(usual + 1)
    for (const address of ['127.0.0.1', '10.0.0.7', '::1', '', 'unknown']) {
      expect([address, await countersTaken({ sessionId: await from(address) })]).toEqual([address, usual])
    }
  })

  it('takes nothing from its other limits when one limit refuses', async () => {
    const [inviterId, team, email] = [newId(), aTeam(), stranger()]
    for (let i = 0; i < 5; i++) expect(await count({ team, email })).toBe(null)
    for (let i = 0; i < 60; i++) expect(codeOf(await count({ inviterId, team, email }))).toBe('API_RATE_LIMIT_EXCEEDED')
    expect(await count({ inviterId, team })).toBe(null)
  })

  it('never refuses an agency that fills four teams of eight seats in an hour and reinvites five people of each', async () => {
    const [inviterId, ownerId] = [newId(), newId()]
    for (let client = 0; client < 4; client++) {
      const team = aTeam(ownerId)
      const emails = Array.from({ length: 7 }, stranger)
      for (const email of [...emails, ...emails.slice(0, 5)]) expect(await count({ inviterId, team, email })).toBe(null)
    }
  })

  it('is exact under concurrency', async () => {
    const team = aTeam()
    const outcome = await Promise.all(Array.from({ length: 60 }, () => count({ team })))
    expect(outcome.filter((error) => error === null)).toHaveLength(40)
  })

  it('has capacity again after an hour, up to the daily limit', async () => {
    const inviterId = newId()
    const age = () =>
      sql(rig.databaseUrl).query(
        `update email_counts set at = array(select t - interval '61 minutes' from unnest(at) t order by 1)
         where digest = sha256(convert_to($1, 'UTF8'))`,
        [`invitation by inviter\n${inviterId}`],
      )
    const most: number[] = []
    for (let hour = 0; hour < 3; hour++) {
      most.push((await exhaust(() => ({ inviterId }))).most)
      await age()
    }
    expect(most).toEqual([50, 50, 20])
    const wait = retryAfterOf(await count({ inviterId })) as number
    expect(wait).toBeGreaterThan(20 * 3_600)
    expect(wait).toBeLessThanOrEqual(24 * 3_600)
  })

  it('holds across processes, including one that starts later', async () => {
    const owner = await newPerson(rig)
    const { teamId, workspaceId } = await newTeam(rig, owner)
    const team = { id: teamId, ownerId: owner.userId, workspaceId, name: 'Team' }
    for (let i = 0; i < 40; i++) expect(await count({ team })).toBe(null)
    const later = await openGateway({ databaseUrl: rig.databaseUrl, env: { ROLES: 'http' } })
    for (const person of [owner, await signIn(later, owner)]) {
      const { status, body } = await person.api.post(`/api/teams/${teamId}/invitations`, { email: stranger(), role: 'admin' })
      expect([status, body.error.message]).toEqual([429, 'The team has sent too many invitations; try again later'])
    }
  })
})
