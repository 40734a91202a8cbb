// A team's workspace in use: what each role may do with instances, and which subscription its messages count against.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { until } from '../kit/until.ts'
import { newNumber, nobody } from '../rest-compat/rig.ts'
import { type Crew, newCrew, openRig, type Rig, surfaces } from './rig.ts'

let rig: Rig
let crew: Crew

beforeAll(async () => {
  rig = await openRig()
  crew = await newCrew(rig)
})

describe.each(surfaces)('instances %s', (_, ask) => {
  const phone = async () => (await connectedInstance(rig.databaseUrl, { ...crew.owner, workspaceId: crew.workspaceId })).id
  const as = (role: 'owner' | 'admin' | 'collaborator') => ({ api: crew[role].inTeam(crew.teamId) })

  it('are created, changed, logged out and deleted by owner and admins', async () => {
    for (const who of [as('owner'), as('admin')]) {
      const { data } = await ask(who, 'POST /instances', [], { name: 'Phone' })
      expect((await ask(who, 'PUT /instances/:id', [data.id], { name: 'Desk' })).data.name).toBe('Desk')
      expect((await ask(who, 'POST /instances/:id/logout', [data.id])).code).toBe(null)
      expect((await ask(who, 'DELETE /instances/:id', [data.id])).code).toBe(null)
    }
  })

  it('are read and connected by collaborators, who cannot create, change, log out or delete them', async () => {
    const [who, id] = [as('collaborator'), await phone()]
    expect((await ask(who, 'POST /instances', [], { name: 'Phone' })).code).toBe('FORBIDDEN')
    expect((await ask(who, 'PUT /instances/:id', [id], { name: 'Mine' })).code).toBe('FORBIDDEN')
    expect((await ask(who, 'POST /instances/:id/logout', [id])).code).toBe('FORBIDDEN')
    expect((await ask(who, 'DELETE /instances/:id', [id])).code).toBe('FORBIDDEN')
    expect((await ask(who, 'POST /instances/:id/connect', [id], {})).code).toBe(null)
    expect((await ask(who, 'GET /instances/:id', [id])).data.status).toBe('connected')
  })

  it('check validity first, existence second and permission last', async () => {
    const who = as('collaborator')
    expect((await ask(who, 'POST /instances', [], { name: '' })).code).toBe('VALIDATION_ERROR')
    expect((await ask(who, 'POST /instances', [], { name: 'X', provider: 'cloud' })).code).toBe('VALIDATION_ERROR')
    for (const route of ['POST /instances/:id/logout', 'DELETE /instances/:id']) {
      expect((await ask(who, route, ['x'])).code).toBe('VALIDATION_ERROR')
      expect((await ask(who, route, [nobody])).code).toBe('NOT_FOUND')
    }
  })

  it('are managed freely by a collaborator in their own workspace', async () => {
    const { data } = await ask(crew.collaborator, 'POST /instances', [], { name: 'Mine' })
    expect((await ask(crew.collaborator, 'DELETE /instances/:id', [data.id])).code).toBe(null)
  })

  it('are managed with a team key, regardless of its creator', async () => {
    const made = await ask(crew.admin, 'POST /teams/:teamId/api-keys', [crew.teamId], { name: 'Robot' })
    const robot = api(rig.gateway, made.data.key, { 'x-team-id': crew.teamId })
    const { body } = await robot.post('instances', { name: 'Phone' })
    expect((await robot.post(`instances/${body.data.id}/logout`)).status).toBe(200)
    expect((await robot.delete(`instances/${body.data.id}`)).status).toBe(200)
  })
})

describe.each(surfaces)("a team's records %s", (_, ask) => {
  it("carry the owner's userId: instances, inbound messages and what a team key sends; a person's messages carry theirs", async () => {
    const { teamId, owner, admin } = crew
    const there = { api: admin.inTeam(teamId) }
    const made = await ask(admin, 'POST /teams/:teamId/api-keys', [teamId], { name: 'Robot' })
    const robot = { api: api(rig.gateway, made.data.key, { 'x-team-id': teamId }) }
    const ids: string[] = []
    for (const { api: creator } of [there, robot]) {
      const { data } = (await creator.graphql('mutation { createInstance(input: { name: "Phone" }) { id userId } }')).body
      expect(data.createInstance.userId).toBe(owner.userId)
      ids.push(data.createInstance.id)
    }
    const [instanceId] = ids as [string]
    await ask(there, 'POST /instances/:id/connect', [instanceId], {})
    await until(async () => (await ask(there, 'GET /instances/:id', [instanceId])).data.status === 'connected')
    const to = `+4915${newNumber().slice(7, 12)}0006`
    const text = { instanceId, to, type: 'text', text: 'Hello' }
    expect((await ask(there, 'POST /messages/send', [], text)).data.userId).toBe(admin.userId)
    const sentByKey = (await robot.api.post('messages/send', text)).body.data
    expect((await robot.api.graphql(`{ message(id: "${sentByKey.id}") { userId } }`)).body.data.message).toEqual({
      userId: owner.userId,
    })
    const campaign = { instanceId, name: 'All', type: 'text', text: 'Hi', recipients: [{ to: newNumber() }] }
    expect((await robot.api.post('campaigns', campaign)).body.data.userId).toBe(owner.userId)
    const received = await until(async () => {
      const { body } = await robot.api.get('messages?direction=inbound')
      return body.data.messages.find(({ from }: { from: string }) => from === to)
    })
    expect([sentByKey.userId, received.userId]).toEqual([owner.userId, owner.userId])
    for (const id of ids) expect((await ask(there, 'DELETE /instances/:id', [id])).code).toBe(null)
    await ask(admin, 'DELETE /teams/:teamId/api-keys/:id', [teamId, made.data.id])
  })
})

it("counts a team's messages, from any member or key, in the owner's monthly usage only", async () => {
  const { teamId, workspaceId, owner, admin, collaborator } = await newCrew(rig)
  const phone = await connectedInstance(rig.databaseUrl, { ...owner, workspaceId })
  const { body } = await admin.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' })
  const robot = api(rig.gateway, body.data.key, { 'x-team-id': teamId })
  const text = () => ({ instanceId: phone.id, to: newNumber(), type: 'text', text: 'Hello' })
  const send = async (client: Api, path: string) => expect((await client.post(path, text())).status).toBe(201)
  for (const person of [owner, admin, collaborator]) await send(person.inTeam(teamId), '/api/messages/send')
  await send(robot, 'messages/send')
  await send(robot, 'messages/send')
  const { rows } = await sql(rig.databaseUrl).query(
    `select u."userId", u."messagesCount" from usage u where u."userId" = any($1::uuid[])
       and u.period = date_trunc('month', now() at time zone 'utc')::date`,
    [[owner, admin, collaborator].map(({ userId }) => userId)],
  )
  expect(rows.filter(({ messagesCount }) => messagesCount > 0)).toEqual([{ userId: owner.userId, messagesCount: 5 }])
  const usage = (await owner.api.get('/api/billing/usage')).body.data
  // Only requests with an API key count as API requests: two were sent.
  expect(usage).toMatchObject({ usage: { messagesCount: 5, apiRequestsCount: 2 } })
  expect((await admin.api.get('/api/billing/usage')).body.data).toMatchObject({
    usage: { messagesCount: 0, apiRequestsCount: 0 },
  })
})

describe.each(surfaces)("creation while the owner's subscription changes %s", (_, ask) => {
  const rows = (text: string, many: number) => `insert into ${text} from generate_series(1, ${many}) i`
  const id = 'gen_random_uuid(), $1::uuid'
  const made: [route: string, body: object, asManyAsFree: string, code: string][] = [
    [
      'POST /instances',
      { name: 'Phone' },
      rows(`instances (id, "workspaceId", "userId", name, provider, settings) select ${id}, $2, i::text, 'sandbox', '{}'`, 1),
      'MAX_INSTANCES_REACHED',
    ],
    [
      'POST /webhooks',
      { url: 'http://127.0.0.1:9/', events: ['message.sent'] },
      rows(
        `webhook_endpoints (id, "workspaceId", url, events, secret) select ${id}, 'http://127.0.0.1:9/', '{message.sent}', ''`,
        3,
      ),
      'MAX_WEBHOOK_ENDPOINTS_REACHED',
    ],
    [
      'POST /contacts/groups',
      { name: 'Guests' },
      rows(`contact_groups (id, "workspaceId", name) select ${id}, i::text`, 10),
      'MAX_CONTACT_GROUPS_REACHED',
    ],
  ]

  it.each(made)('is judged by the subscription once it has the lock: %s', async (route, body, asManyAsFree, code) => {
    const { teamId, workspaceId, owner, admin } = await newCrew(rig, 'pro')
    const values = asManyAsFree.includes('$2') ? [workspaceId, owner.userId] : [workspaceId]
    await sql(rig.databaseUrl).query(asManyAsFree, values)
    const create = () => ask({ api: admin.inTeam(teamId) }, route, [], body)
    for (const [change, refusal] of [
      [`plan = 'free'`, code],
      [`plan = 'pro', status = 'inactive'`, 'SUBSCRIPTION_INACTIVE'],
    ] as const) {
      await sql(rig.databaseUrl).query(`update subscriptions set plan = 'pro', status = 'active' where "userId" = $1`, [
        owner.userId,
      ])
      const outcome = await whileHeld(
        rig.databaseUrl,
        [`update subscriptions set ${change} where "userId" = $1`, owner.userId],
        [create],
      )
      expect(outcome.map((one) => one.code)).toEqual([refusal])
    }
    await sql(rig.databaseUrl).query(`update subscriptions set status = 'active' where "userId" = $1`, [owner.userId])
    expect((await create()).code).toBe(null)
  })
})
