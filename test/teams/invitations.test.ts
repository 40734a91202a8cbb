// Owners and admins invite people by mail, and each open invitation holds a seat of the plan for seven days.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { moment, nobody, uuid } from '../rest-compat/rig.ts'
import { acceptOver } from './invitation-rig.ts'
import {
  type Crew,
  invited,
  mailsTo,
  newCrew,
  newPerson,
  newTeam,
  openRig,
  type Rig,
  subscribe,
  surfaces,
  tokenTo,
} from './rig.ts'

let rig: Rig
let addresses = 0
const anybody = () => `guest${++addresses}@example.com`

beforeAll(async () => {
  rig = await openRig()
})

describe.each(surfaces)('invitations %s', (_, ask) => {
  let crew: Crew
  const invite = (who: Parameters<typeof ask>[0], teamId: string, body: unknown) =>
    ask(who, 'POST /teams/:teamId/invitations', [teamId], body)
  const list = async (teamId: string) => (await ask(crew.owner, 'GET /teams/:teamId/invitations', [teamId])).data
  const accept = acceptOver(ask)

  beforeAll(async () => {
    crew = await newCrew(rig)
  })

  it('reach the address by mail with a token that is stored only as a digest, and add the person to the team', async () => {
    const { teamId, owner } = await newCrew(rig)
    const guest = await newPerson(rig, 'free')
    const { data } = await invite(owner, teamId, { email: guest.email.toUpperCase(), role: 'admin' })
    const invitation = { id: uuid, email: guest.email, role: 'admin', status: 'pending', expiresAt: moment, createdAt: moment }
    expect(data).toStrictEqual(invitation)
    const days = (Date.parse(data.expiresAt) - Date.parse(data.createdAt)) / 86_400_000
    expect(days).toBeCloseTo(7, 3)
    const token = await tokenTo(rig, guest.email)
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(mailsTo(rig, guest.email).at(-1)).toMatch(/"Test" invites you to the team "Team"\./)
    const stored = await sql(rig.databaseUrl).query(
      'select "tokenHash", to_jsonb(i)::text as row from team_invitations i where id = $1',
      [data.id],
    )
    expect(stored.rows[0].tokenHash).toEqual(createHash('sha256').update(token).digest())
    expect(stored.rows[0].row).not.toContain(token)
    const joined = await accept(guest, token)
    expect(joined.data).toMatchObject({ id: teamId, role: 'admin', membersCount: 4 })
    expect((await ask(owner, 'GET /teams/:teamId/invitations', [teamId])).data).toStrictEqual([{ ...data, status: 'accepted' }])
    expect((await ask(guest, 'GET /teams')).data).toStrictEqual([joined.data])
  })

  it('are created, listed and revoked by owner and admins only', async () => {
    const { teamId, owner, admin, collaborator } = crew
    for (const person of [owner, admin]) {
      const { data } = await invite(person, teamId, { email: anybody(), role: 'collaborator' })
      expect(await list(teamId)).toContainEqual(data)
      expect((await ask(collaborator, 'DELETE /teams/:teamId/invitations/:id', [teamId, data.id])).code).toBe('FORBIDDEN')
      const gone = await ask(person, 'DELETE /teams/:teamId/invitations/:id', [teamId, data.id])
      expect(gone.data).toStrictEqual({ id: data.id, deleted: true })
      expect((await ask(person, 'DELETE /teams/:teamId/invitations/:id', [teamId, data.id])).code).toBe('NOT_FOUND')
      expect(await list(teamId)).toEqual([])
    }
    expect((await invite(collaborator, teamId, { email: anybody(), role: 'collaborator' })).code).toBe('FORBIDDEN')
    expect((await ask(collaborator, 'GET /teams/:teamId/invitations', [teamId])).code).toBe('FORBIDDEN')
  })

  it('are refused with the name of each invalid field', async () => {
    const wrong: [body: unknown, field: RegExp][] = [
      [{}, /email: is required; .*role: is required/],
      [{ email: 'nobody', role: 'admin' }, /email: must be an e-mail address/],
      [{ email: `${'x'.repeat(250)}@example.com`, role: 'admin' }, /email: /],
      [{ email: 'a@example.com', role: 'owner' }, /role: /],
      [{ email: 'a@example.com', role: null }, /role: /],
    ]
    for (const [body, field] of wrong) {
      const outcome = await invite(crew.owner, crew.teamId, body)
      expect([outcome.code, outcome.message]).toEqual(['VALIDATION_ERROR', expect.stringMatching(field)])
    }
    expect((await accept(crew.outsider, '')).message).toMatch(/^token: /)
    expect((await accept(crew.outsider, undefined)).code).toBe('VALIDATION_ERROR')
  })

  it('are refused for a member and for an address with an open one, but not after expiry or revocation', async () => {
    const { teamId, owner, collaborator } = await newCrew(rig)
    expect((await invite(owner, teamId, { email: collaborator.email.toUpperCase(), role: 'admin' })).code).toBe('CONFLICT')
    const email = anybody()
    await invited(rig, teamId, email, { days: -1 })
    await invited(rig, teamId, email, { status: 'revoked' })
    expect((await invite(owner, teamId, { email, role: 'admin' })).code).toBe(null)
    expect((await invite(owner, teamId, { email, role: 'admin' })).code).toBe('CONFLICT')
    const { data } = await ask(owner, 'GET /teams/:teamId/invitations', [teamId])
    expect(data.map(({ status }: { status: string }) => status)).toEqual(['pending', 'expired'])
  })

  it('to one address created twenty times concurrently give one invitation and one mail', async () => {
    const { teamId, owner } = await newCrew(rig)
    const email = anybody()
    const outcome = await Promise.all(Array.from({ length: 20 }, () => invite(owner, teamId, { email, role: 'admin' })))
    expect(outcome.filter(({ code }) => code === null)).toHaveLength(1)
    expect(outcome.filter(({ code }) => code === 'CONFLICT')).toHaveLength(19)
    await tokenTo(rig, email)
    expect(mailsTo(rig, email)).toHaveLength(1)
  })

  it('to one address are limited to five in an hour, though each was revoked, and the refused one leaves no trace', async () => {
    const { teamId, owner } = await newCrew(rig)
    const email = anybody()
    const body = { email, role: 'admin' }
    for (let i = 0; i < 5; i++) {
      const { data } = await invite(owner, teamId, body)
      await ask(owner, 'DELETE /teams/:teamId/invitations/:id', [teamId, data.id])
    }
    const { code, message, answer } = await invite(owner, teamId, body)
    expect([code, message]).toEqual(['API_RATE_LIMIT_EXCEEDED', `${email} has received too many invitations; try again later`])
    if (answer.body.error) {
      expect(answer.status).toBe(429)
      const seconds = Number(answer.headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(3_500)
      expect(seconds).toBeLessThanOrEqual(3_600)
    }
    expect((await ask(owner, 'GET /teams/:teamId/invitations', [teamId])).data).toEqual([])
    expect((await invite(owner, teamId, { email: anybody(), role: 'admin' })).code).toBe(null)
  })

  it('quote names on one line, strip links and addresses from them, and contain only their own link', async () => {
    const owner = await newPerson(rig, 'max', 'Olive\n\n\u202ePay at "pay.example"')
    const { teamId } = await newTeam(rig, owner, ' URGENT:\r\nBcc: all@example.com\u2028\tgo to https://evil.example/a')
    const email = anybody()
    await invite(owner, teamId, { email, role: 'admin' })
    await tokenTo(rig, email)
    const [mail = ''] = mailsTo(rig, email)
    const [, subject, empty, text] = mail.split('\n')
    expect(subject).toBe('Subject: Invitation to the team "URGENT: Bcc: … go to …"')
    expect([empty, text]).toEqual([
      '',
      expect.stringMatching(/^"Olive Pay at …" invites you to the team "URGENT: Bcc: … go to …"\. /),
    ])
    expect(mail.match(/https?:\/\/[^\s]+/g)).toEqual([expect.stringMatching(/\/invitation\?token=[\w-]{43}$/)])
    expect(mail.replace(/^To: .*$/m, '')).not.toMatch(/@|evil|pay\.example/)
  })

  it('take seats in addition to all members, up to the plan limit; expired and revoked ones take none', async () => {
    const { teamId, owner } = await newCrew(rig, 'pro')
    await invited(rig, teamId, anybody(), { days: -1 })
    await invited(rig, teamId, anybody(), { status: 'revoked' })
    const { data } = await invite(owner, teamId, { email: anybody(), role: 'admin' })
    const full = await invite(owner, teamId, { email: anybody(), role: 'admin' })
    expect(full.code).toBe('MAX_TEAM_SEATS_REACHED')
    await ask(owner, 'DELETE /teams/:teamId/invitations/:id', [teamId, data.id])
    expect((await invite(owner, teamId, { email: anybody(), role: 'admin' })).code).toBe(null)
  })

  it('never exceed the seats when twenty are created concurrently', async () => {
    const { teamId, owner, admin } = await newCrew(rig, 'max')
    const outcome = await Promise.all(
      Array.from({ length: 20 }, (_, i) => invite(i % 2 ? owner : admin, teamId, { email: anybody(), role: 'collaborator' })),
    )
    expect(outcome.filter(({ code }) => code === null)).toHaveLength(5)
    expect(outcome.filter(({ code }) => code === 'MAX_TEAM_SEATS_REACHED')).toHaveLength(15)
  })

  it("follow the owner's plan: none on a cancelled or inactive subscription", async () => {
    const { teamId, owner, admin } = await newCrew(rig, 'max')
    const body = { email: anybody(), role: 'collaborator' }
    await subscribe(rig, owner, 'max', 'cancelled')
    expect((await invite(admin, teamId, body)).code).toBe('MAX_TEAM_SEATS_REACHED')
    await subscribe(rig, owner, 'max', 'inactive')
    expect((await invite(admin, teamId, body)).code).toBe('SUBSCRIPTION_INACTIVE')
    await subscribe(rig, owner, 'max')
    await subscribe(rig, admin, 'free', 'inactive')
    expect((await invite(admin, teamId, body)).code).toBe(null)
  })

  it('keep the seat that they hold, even after a downgrade to a plan with fewer seats', async () => {
    const { teamId, owner } = await newCrew(rig, 'pro')
    const guest = await newPerson(rig)
    const { token } = await invited(rig, teamId, guest.email)
    expect((await invite(owner, teamId, { email: anybody(), role: 'admin' })).code).toBe('MAX_TEAM_SEATS_REACHED')
    await subscribe(rig, owner, 'free')
    expect((await accept(guest, token)).data).toMatchObject({ membersCount: 4, seats: 0 })
  })

  it('cannot be revoked once accepted, and are not found through another team', async () => {
    const { teamId } = await newTeam(rig, crew.owner)
    const other = await newTeam(rig, crew.owner)
    const { id } = await invited(rig, teamId, anybody(), { status: 'accepted' })
    expect((await ask(crew.owner, 'DELETE /teams/:teamId/invitations/:id', [teamId, id])).code).toBe('INVALID_STATE')
    for (const [team, one] of [
      [other.teamId, id],
      [teamId, nobody],
    ] as const)
      expect((await ask(crew.owner, 'DELETE /teams/:teamId/invitations/:id', [team, one])).code).toBe('NOT_FOUND')
    const outcome = await ask(crew.owner, 'DELETE /teams/:teamId/invitations/:id', [teamId, 'x'])
    expect([outcome.code, outcome.message]).toEqual(['VALIDATION_ERROR', 'id: must be a UUID'])
  })
})
