// An open invitation adds one member to its team, once: the verified account of its address, and nobody else.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Person } from '../accounts/person.ts'
import { sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { acceptOver } from './invitation-rig.ts'
import { type Crew, invited, newCrew, newPerson, newTeam, openRig, type Rig, surfaces } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

describe.each(surfaces)('invitations %s', (_, ask) => {
  let crew: Crew
  const accept = acceptOver(ask)

  beforeAll(async () => {
    crew = await newCrew(rig)
  })

  it('are invalid when unknown, used, revoked, expired or of a deleted team', async () => {
    const guest = await newPerson(rig)
    const { teamId } = await newTeam(rig, crew.owner)
    const closed = await newTeam(rig, crew.owner)
    await sql(rig.databaseUrl).query('update teams set "deletedAt" = now() where id = $1', [closed.teamId])
    const tokens = [
      'nonsense',
      (await invited(rig, teamId, guest.email, { status: 'accepted' })).token,
      (await invited(rig, teamId, guest.email, { status: 'revoked' })).token,
      (await invited(rig, teamId, guest.email, { days: -1 })).token,
      (await invited(rig, closed.teamId, guest.email)).token,
    ]
    for (const token of tokens) {
      const { code, answer } = await accept(guest, token)
      expect(code).toBe('INVALID_TOKEN')
      if (answer.body.error) expect(answer.status).toBe(400)
    }
    expect((await ask(guest, 'GET /teams')).data).toEqual([])
  })

  it('tell the name of their team to whoever holds the token, while they are open', async () => {
    const { token } = await invited(rig, crew.teamId, 'ada@example.com')
    const nameFor = async (who: Person, given: string) =>
      (await who.api.graphql('query($token: String!) { invitedTeamName(token: $token) }', { token: given })).body
    const [{ name }] = (await sql(rig.databaseUrl).query('select name from teams where id = $1', [crew.teamId])).rows
    expect((await nameFor(crew.outsider, token)).data).toEqual({ invitedTeamName: name })
    const gone = [
      'nonsense',
      (await invited(rig, crew.teamId, 'ada@example.com', { status: 'revoked' })).token,
      (await invited(rig, crew.teamId, 'ada@example.com', { days: -1 })).token,
    ]
    for (const given of gone) expect((await nameFor(crew.outsider, given)).errors[0].extensions.code).toBe('INVALID_TOKEN')
  })

  it('are accepted only by the verified account of their address, and survive refused attempts', async () => {
    const guest = await newPerson(rig)
    const { token } = await invited(rig, crew.teamId, guest.email, { role: 'admin' })
    for (const person of [crew.outsider, crew.admin]) expect((await accept(person, token)).code).toBe('FORBIDDEN')
    const verified = (yes: boolean) =>
      sql(rig.databaseUrl).query('update users set "emailVerified" = $2 where id = $1', [guest.userId, yes])
    await verified(false)
    expect((await accept(guest, token)).code).toBe('FORBIDDEN')
    await verified(true)
    expect((await accept(guest, token)).data).toMatchObject({ id: crew.teamId, role: 'admin' })
  })

  it('accepted twenty times concurrently create one member', async () => {
    const guest = await newPerson(rig)
    const { teamId } = await newTeam(rig, crew.owner)
    const { token } = await invited(rig, teamId, guest.email)
    const outcome = await Promise.all(Array.from({ length: 20 }, () => accept(guest, token)))
    expect(outcome.filter(({ code }) => code === null)).toHaveLength(1)
    expect(outcome.filter(({ code }) => code === 'INVALID_TOKEN')).toHaveLength(19)
    expect((await ask(guest, 'GET /teams/:teamId/members', [teamId])).data).toHaveLength(2)
  })

  it('add nobody when revoked while an acceptance waits', async () => {
    const guest = await newPerson(rig)
    const { teamId } = await newTeam(rig, crew.owner)
    const { id, token } = await invited(rig, teamId, guest.email)
    const outcome = await whileHeld(
      rig.databaseUrl,
      ['select from teams where id = $1 for update', teamId],
      [() => accept(guest, token)],
      [`update team_invitations set status = 'revoked' where id = $1`, id],
    )
    expect(outcome.map(({ code }) => code)).toEqual(['INVALID_TOKEN'])
    expect((await ask(guest, 'GET /teams')).data).toEqual([])
  })

  it('accepted concurrently by several accounts add only the account of their address', async () => {
    const guest = await newPerson(rig)
    const { teamId } = await newTeam(rig, crew.owner)
    const { token } = await invited(rig, teamId, guest.email, { role: 'admin' })
    const outcome = await Promise.all([crew.outsider, guest, crew.admin].map((person) => accept(person, token)))
    expect(outcome[1]?.code).toBe(null)
    for (const other of [outcome[0], outcome[2]]) expect(['FORBIDDEN', 'INVALID_TOKEN']).toContain(other?.code)
    const { data } = await ask(guest, 'GET /teams/:teamId/members', [teamId])
    expect(data.map(({ userId }: { userId: string }) => userId)).toEqual([crew.owner.userId, guest.userId])
  })
})
