// Endpoints, keys and invitations that a member made end with the membership, and the owner can see who made them.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { newNumber } from '../rest-compat/rig.ts'
import { openReceiver } from '../webhooks/receiver.ts'
import { type Ask, type Crew, newCrew, newPerson, openRig, type Person, type Rig, surfaces, tokenTo } from './rig.ts'

let rig: Rig

beforeAll(() => {
  rig = openRig()
})

const closed = 'http://127.0.0.1:9/'
const events = ['message.sent']

async function endpoint(person: Person, { teamId }: Crew, url = closed): Promise<string> {
  const { status, body } = await person.inTeam(teamId).post('/api/webhooks', { url, events })
  expect(status).toBe(201)
  return body.data.id
}

async function teamKey(person: Person, { teamId }: Crew): Promise<{ id: string; robot: ReturnType<typeof api> }> {
  const { data } = (await person.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' })).body
  return { id: data.id, robot: api(rig.gateway, data.key, { 'x-team-id': teamId }) }
}

/** The team's endpoints by id, as GraphQL returns them to the owner. */
async function listed({ owner, teamId }: Crew): Promise<Record<string, Record<string, unknown>>> {
  const fields = 'id url disabledReason disabledAt createdBy { id email name } approvedBy { id }'
  const { body } = await owner.inTeam(teamId).graphql(`{ webhooks { ${fields} } }`)
  return Object.fromEntries(body.data.webhooks.map((one: { id: string }) => [one.id, one]))
}

const shownAs = ({ userId, email }: Person) => ({ id: userId, email, name: 'Test' })
const change = (who: Person, { teamId }: Crew, id: string, body: object) => who.inTeam(teamId).put(`/api/webhooks/${id}`, body)

const ways: [name: string, end: (ask: Ask, crew: Crew) => Promise<unknown>][] = [
  ['are removed', (ask, { owner, admin, teamId }) => ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, admin.userId])],
  ['leave', (ask, { admin, teamId }) => ask(admin, 'POST /teams/:teamId/leave', [teamId])],
]

describe.each(surfaces)('resources of members whose membership ends %s', (_, ask) => {
  describe.each(ways)('when they %s', (_, end) => {
    it('disables and lists the endpoints that they created, enabled or gave a URL, and no others', async () => {
      const crew = await newCrew(rig)
      const { owner, admin } = crew
      const made = await endpoint(admin, crew)
      const { robot } = await teamKey(admin, crew)
      const byKey = (await robot.post('webhooks', { url: closed, events })).body.data.id as string
      const [moved, enabled, renewed, others] = [
        await endpoint(owner, crew),
        await endpoint(owner, crew),
        await endpoint(owner, crew),
        await endpoint(owner, crew),
      ]
      await change(admin, crew, moved, { url: `${closed}moved` })
      await change(owner, crew, enabled, { enabled: false })
      await change(admin, crew, enabled, { enabled: true })
      await change(admin, crew, renewed, { url: `${closed}other` })
      await change(owner, crew, renewed, { url: `${closed}ours` })
      await change(admin, crew, others, { events: ['message.read'] })
      const before = await listed(crew)
      expect([made, byKey, moved, enabled].map((id) => before[id]?.disabledReason)).toEqual([null, null, null, null])
      await end(ask, crew)
      const after = await listed(crew)
      const gone = { disabledReason: 'member_removed', disabledAt: expect.any(String) }
      expect(after[made]).toMatchObject({ ...gone, createdBy: shownAs(admin), approvedBy: { id: admin.userId } })
      expect(after[byKey]).toMatchObject({ ...gone, createdBy: shownAs(admin) })
      for (const id of [moved, enabled])
        expect(after[id]).toMatchObject({ ...gone, createdBy: shownAs(owner), approvedBy: { id: admin.userId } })
      for (const id of [renewed, others]) expect(after[id]).toEqual(before[id])
      const record = (await owner.inTeam(crew.teamId).get(`/api/webhooks/${made}`)).body.data
      expect(Object.keys(record).sort()).toEqual(['createdAt', 'disabledAt', 'events', 'id', 'url'])
      expect(record.disabledAt).toBe(after[made]?.disabledAt)
    })

    it('refuses their keys at once and lists them as revoked, with their creator', async () => {
      const crew = await newCrew(rig)
      const { owner, admin, teamId } = crew
      const theirs = await teamKey(admin, crew)
      const ours = await teamKey(owner, crew)
      expect((await theirs.robot.get('contacts')).status).toBe(200)
      await end(ask, crew)
      expect((await theirs.robot.get('contacts')).status).toBe(401)
      expect((await ours.robot.get('contacts')).status).toBe(200)
      expect((await ask(owner, 'GET /teams/:teamId/api-keys', [teamId])).data.map(({ id }: { id: string }) => id)).toEqual([
        ours.id,
      ])
      const keys = 'id name revokedAt createdBy { id email name }'
      const query = `{ team(id: "${teamId}") { apiKeys { ${keys} } revokedApiKeys { ${keys} } } }`
      const { apiKeys, revokedApiKeys } = (await owner.api.graphql(query)).body.data.team
      expect(apiKeys).toEqual([{ id: ours.id, name: 'Robot', revokedAt: null, createdBy: shownAs(owner) }])
      expect(revokedApiKeys).toEqual([{ id: theirs.id, name: 'Robot', revokedAt: expect.any(String), createdBy: shownAs(admin) }])
    })

    it('invalidates their open invitations and frees the seats that these held', async () => {
      const crew = await newCrew(rig)
      const { owner, admin, teamId } = crew
      const [friend, guest] = [await newPerson(rig), await newPerson(rig)]
      await ask(admin, 'POST /teams/:teamId/invitations', [teamId], { email: friend.email, role: 'admin' })
      await ask(owner, 'POST /teams/:teamId/invitations', [teamId], { email: guest.email, role: 'admin' })
      const invitedBy = `{ team(id: "${teamId}") { invitations { email invitedBy { id } } } }`
      expect((await owner.api.graphql(invitedBy)).body.data.team.invitations).toEqual([
        { email: guest.email, invitedBy: { id: owner.userId } },
        { email: friend.email, invitedBy: { id: admin.userId } },
      ])
      await end(ask, crew)
      const token = await tokenTo(rig, friend.email)
      expect((await ask(friend, 'POST /teams/invitations/accept', [], { token })).code).toBe('INVALID_TOKEN')
      const { data } = await ask(owner, 'GET /teams/:teamId/invitations', [teamId])
      expect(data.map(({ email }: { email: string }) => email)).toEqual([guest.email])
      const own = await tokenTo(rig, guest.email)
      expect((await ask(guest, 'POST /teams/invitations/accept', [], { token: own })).code).toBe(null)
    })
  })

  it('delivers no team events to their endpoint until an owner or admin enables it again', async () => {
    const crew = await newCrew(rig)
    const { owner, admin, teamId, workspaceId } = crew
    const { id: instanceId } = await connectedInstance(rig.databaseUrl, { userId: owner.userId, workspaceId })
    const [theirs, ours] = [await openReceiver(), await openReceiver()]
    const id = await endpoint(admin, crew, theirs.url)
    await endpoint(owner, crew, ours.url)
    const send = async () => {
      const body = { instanceId, to: newNumber(), type: 'text', text: 'Hello' }
      return (await owner.inTeam(teamId).post('/api/messages/send', body)).body.data.id as string
    }
    const toldOf = ({ requests }: typeof ours, message: string) => requests.some(({ body }) => body.includes(message))
    const first = await send()
    await until(() => toldOf(theirs, first) && toldOf(ours, first))
    await ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, admin.userId])
    const second = await send()
    await until(() => toldOf(ours, second))
    const deliveries =
      'select v.payload from webhook_deliveries d join events v on v.seq = d."eventSeq" where d."endpointId" = $1'
    expect(JSON.stringify((await sql(rig.databaseUrl).query(deliveries, [id])).rows)).not.toContain(second)
    // A new URL alone does not enable the endpoint: an owner or admin must enable it explicitly.
    expect((await change(owner, crew, id, { url: `${theirs.url}/again` })).status).toBe(200)
    expect((await listed(crew))[id]).toMatchObject({ disabledReason: 'member_removed', approvedBy: { id: owner.userId } })
    expect((await change(owner, crew, id, { enabled: true })).status).toBe(200)
    const third = await send()
    await until(() => toldOf(theirs, third))
    expect(toldOf(theirs, second)).toBe(false)
  })

  it('fails the deliveries that were still pending for their endpoint', async () => {
    const crew = await newCrew(rig)
    const { owner, admin, teamId } = crew
    const id = await endpoint(admin, crew)
    await sql(rig.databaseUrl).query(
      `insert into webhook_deliveries (id, "endpointId", "eventId", type, payload, "nextAttemptAt")
       select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', '{}', now() + interval '1 hour'`,
      [id],
    )
    await ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, admin.userId])
    const { rows } = await sql(rig.databaseUrl).query('select status, error from webhook_deliveries where "endpointId" = $1', [
      id,
    ])
    expect(rows).toEqual([{ status: 'failed', error: 'endpoint_disabled' }])
  })

  it('revokes the keys and open invitations of a demoted admin, and disables their endpoints only on removal', async () => {
    const crew = await newCrew(rig)
    const { owner, admin, teamId } = crew
    const friend = await newPerson(rig)
    const { robot } = await teamKey(admin, crew)
    const id = await endpoint(admin, crew)
    await ask(admin, 'POST /teams/:teamId/invitations', [teamId], { email: friend.email, role: 'admin' })
    const demoted = await ask(owner, 'PUT /teams/:teamId/members/:userId', [teamId, admin.userId], { role: 'collaborator' })
    expect(demoted.data.role).toBe('collaborator')
    expect((await robot.get('contacts')).status).toBe(401)
    expect((await ask(owner, 'GET /teams/:teamId/invitations', [teamId])).data).toEqual([])
    expect((await listed(crew))[id]?.disabledReason).toBe(null)
    await ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, admin.userId])
    expect((await listed(crew))[id]?.disabledReason).toBe('member_removed')
  })

  it('keeps the campaigns of the team, with their creator', async () => {
    const crew = await newCrew(rig)
    const { owner, admin, teamId, workspaceId } = crew
    const { id: instanceId } = await connectedInstance(rig.databaseUrl, { userId: owner.userId, workspaceId })
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const campaign = { instanceId, type: 'text', text: 'Later', name: 'News', scheduledAt, recipients: [{ to: newNumber() }] }
    const { id } = (await admin.inTeam(teamId).post('/api/campaigns', campaign)).body.data
    await ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, admin.userId])
    const kept = (await owner.inTeam(teamId).get(`/api/campaigns/${id}`)).body.data
    expect(kept).toMatchObject({ id, userId: admin.userId, status: 'scheduled' })
    expect((await owner.inTeam(teamId).post(`/api/campaigns/${id}/cancel`)).body.data.status).toBe('cancelled')
  })

  it('ends what they create concurrently with their removal, in whichever order the requests run', async () => {
    const crew = await newCrew(rig)
    const { owner, admin, teamId } = crew
    const kept = await endpoint(owner, crew)
    const asked = [
      () => ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, admin.userId]),
      () => ask({ api: admin.inTeam(teamId) }, 'POST /webhooks', [], { url: closed, events }),
      () => ask({ api: admin.inTeam(teamId) }, 'PUT /webhooks/:id', [kept], { url: `${closed}theirs` }),
      () => ask(admin, 'POST /teams/:teamId/api-keys', [teamId], { name: 'Robot' }),
      () => ask(admin, 'POST /teams/:teamId/invitations', [teamId], { email: 'friend@example.com', role: 'admin' }),
    ]
    await Promise.all([...asked.slice(1), ...asked.slice(1), ...asked, ...asked.slice(1)].map((one) => one()))
    const { rows } = await sql(rig.databaseUrl).query(
      `select (select count(*)::int from webhook_endpoints where $2 in ("createdById", "approvedById") and "disabledAt" is null) as endpoints,
         (select count(*)::int from api_keys where "teamId" = $1 and "userId" = $2 and "revokedAt" is null) as keys,
         (select count(*)::int from team_invitations where "teamId" = $1 and "inviterId" = $2 and status = 'pending') as invitations`,
      [teamId, admin.userId],
    )
    expect(rows).toEqual([{ endpoints: 0, keys: 0, invitations: 0 }])
  })
})

it("ends the event streams of a removed member's keys within five seconds", async () => {
  const crew = await newCrew(rig)
  const { owner, admin, teamId } = crew
  const { key } = (await admin.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' })).body.data
  const headers = { 'x-api-key': key, 'x-team-id': teamId, accept: 'text/event-stream' }
  const response = await fetch(`${rig.gateway.url}/api/v1/events/stream`, { headers })
  expect(response.status).toBe(200)
  let over = false
  void response.text().then(() => {
    over = true
  })
  expect((await owner.api.delete(`/api/teams/${teamId}/members/${admin.userId}`)).status).toBe(200)
  await until(() => over, { timeoutMs: 5_000 })
})
