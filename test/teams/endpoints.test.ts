// Webhook endpoints of a team: owner and admins decide where the team's events go, collaborators can only read.
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { until } from '../kit/until.ts'
import { type Ask, type Crew, newCrew, openRig, type Person, type Rig, surfaces, type Told } from './rig.ts'

let rig: Rig

beforeAll(() => {
  rig = openRig()
})

const hook = { url: 'http://127.0.0.1:9/hook', events: ['message.sent'] }
const elsewhere = { url: 'http://127.0.0.1:9/elsewhere' }
const within = (person: Person, { teamId }: Crew) => ({ api: person.inTeam(teamId) })

interface Made {
  crew: Crew
  id: string
  deliveryId: string
}

/** A webhook endpoint of the team with one delivery that has been attempted. */
async function openEndpoint(ask: Ask): Promise<Made> {
  const crew = await newCrew(rig)
  const own = within(crew.owner, crew)
  const { data } = await ask(own, 'POST /webhooks', [], hook)
  const delivery = await ask(own, 'POST /webhooks/:id/test', [data.id])
  await atRest(data.id)
  return { crew, id: data.id, deliveryId: delivery.data.id }
}

/** Waits until no delivery of the webhook endpoint is running or scheduled. */
async function atRest(id: string): Promise<void> {
  const open = 'select from webhook_deliveries where "endpointId" = $1 and "nextAttemptAt" is not null'
  await until(async () => (await sql(rig.databaseUrl).query(open, [id])).rowCount === 0)
}

async function stored({ workspaceId }: Crew): Promise<unknown[]> {
  const { rows } = await sql(rig.databaseUrl).query(
    `select e.id, url, events, secret, "disabledAt", "deletedAt", (select count(*)::int from webhook_deliveries d where d."endpointId" = e.id) as n
     from webhook_endpoints e where "workspaceId" = $1 order by e.id`,
    [workspaceId],
  )
  return rows
}

/** Every request that changes a webhook endpoint, or makes the gateway call it. */
const changes: [route: string, params: (made: Made) => string[], body?: object][] = [
  ['POST /webhooks', () => [], hook],
  ['PUT /webhooks/:id', ({ id }) => [id], elsewhere],
  ['POST /webhooks/:id/rotate-secret', ({ id }) => [id]],
  ['POST /webhooks/:id/test', ({ id }) => [id]],
  ['POST /webhooks/:id/deliveries/:deliveryId/redeliver', ({ id, deliveryId }) => [id, deliveryId]],
  ['DELETE /webhooks/:id', ({ id }) => [id]],
]

const statusOf = ({ answer }: Told, otherwise: number) => (answer.body.errors ? otherwise : answer.status)

describe.each(surfaces)("a team's webhook endpoints %s", (_, ask) => {
  it.each(changes)('refuse a collaborator and stay unchanged: %s', async (route, params, body) => {
    const made = await openEndpoint(ask)
    const before = await stored(made.crew)
    const outcome = await ask(within(made.crew.collaborator, made.crew), route, params(made), body)
    expect([outcome.code, statusOf(outcome, 403)]).toEqual(['FORBIDDEN', 403])
    expect(await stored(made.crew)).toEqual(before)
  })

  it.each(changes)('allow an admin: %s', async (route, params, body) => {
    const made = await openEndpoint(ask)
    expect((await ask(within(made.crew.admin, made.crew), route, params(made), body)).code).toBe(null)
  })

  it('are readable by collaborators, including their deliveries', async () => {
    const made = await openEndpoint(ask)
    const { collaborator } = made.crew
    const who = within(collaborator, made.crew)
    const record = { id: made.id, ...hook, createdAt: expect.any(String) }
    expect((await ask(who, 'GET /webhooks')).data).toStrictEqual([record])
    expect((await ask(who, 'GET /webhooks/:id', [made.id])).data).toStrictEqual({ ...record, disabledAt: null })
    expect((await ask(who, 'GET /webhooks/:id/deliveries', [made.id])).data.deliveries).toHaveLength(1)
  })

  it('refuse a collaborator after request validation and endpoint lookup, and before the plan limit', async () => {
    const { crew, id } = await openEndpoint(ask)
    const who = within(crew.collaborator, crew)
    expect((await ask(who, 'POST /webhooks', [], { ...hook, url: 'nonsense' })).code).toBe('VALIDATION_ERROR')
    expect((await ask(who, 'DELETE /webhooks/:id', [crew.workspaceId])).code).toBe('NOT_FOUND')
    await sql(rig.databaseUrl).query(
      `insert into webhook_endpoints (id, "workspaceId", url, events, secret)
       select gen_random_uuid(), "workspaceId", url, events, secret from webhook_endpoints, generate_series(1, 50) where id = $1`,
      [id],
    )
    expect((await ask(who, 'POST /webhooks', [], hook)).code).toBe('FORBIDDEN')
    expect((await ask(within(crew.owner, crew), 'POST /webhooks', [], hook)).code).toBe('MAX_WEBHOOK_ENDPOINTS_REACHED')
  })

  it('judge a request by the role at the time that the lock is acquired, not when it was sent', async () => {
    const { crew, id } = await openEndpoint(ask)
    const { admin, owner, teamId } = crew
    const member = ['update team_members set role = $3 where "teamId" = $1 and "userId" = $2', teamId, admin.userId] as const
    const asked = [() => ask(within(admin, crew), 'PUT /webhooks/:id', [id], elsewhere)]
    expect((await whileHeld(rig.databaseUrl, [...member, 'collaborator'], asked)).map(({ code }) => code)).toEqual(['FORBIDDEN'])
    expect((await ask(within(owner, crew), 'GET /webhooks/:id', [id])).data.url).toBe(hook.url)
    await sql(rig.databaseUrl).query(member[0], [teamId, admin.userId, 'admin'])
    const removal = ['delete from team_members where "teamId" = $1 and "userId" = $2', teamId, admin.userId] as const
    const create = [() => ask(within(admin, crew), 'POST /webhooks', [], hook)]
    expect((await whileHeld(rig.databaseUrl, [...removal], create)).map(({ code }) => code)).toEqual(['TEAM_NOT_FOUND'])
    expect(await stored(crew)).toHaveLength(1)
  })

  it('are not created by a key that is revoked while its request waits', async () => {
    const crew = await newCrew(rig)
    const { id, key } = (await crew.admin.api.post(`/api/teams/${crew.teamId}/api-keys`, { name: 'Robot' })).body.data
    const robot = api(rig.gateway, key, { 'x-team-id': crew.teamId })
    const outcome = await whileHeld(
      rig.databaseUrl,
      ['select from subscriptions where "userId" = $1 for update', crew.owner.userId],
      [() => robot.post('webhooks', hook)],
      ['update api_keys set "revokedAt" = now() where id = $1', id],
    )
    expect(outcome.map(({ status, body }) => [status, body.error.code])).toEqual([[401, 'UNAUTHORIZED']])
    expect(await stored(crew)).toEqual([])
  })
})

it.each(changes)('allows a team key: %s', async (route, params, body) => {
  const made = await openEndpoint(surfaces[0]?.[1] as Ask)
  const { teamId, admin } = made.crew
  const { key } = (await admin.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' })).body.data
  const [method, path] = route.split(' ') as ['PUT', string]
  const robot = api(rig.gateway, key, { 'x-team-id': teamId })
  const values = params(made)
  const url = path.slice(1).replaceAll(/:\w+/g, () => values.shift() as string)
  const answer = await robot[method.toLowerCase() as 'put'](url, body)
  expect(answer.status).toBe(route === 'POST /webhooks' ? 201 : 200)
})

it('a collaborator reads the log of attempts and the health of a team endpoint, but may not redeliver all', async () => {
  const { crew, id } = await openEndpoint((surfaces[0] as (typeof surfaces)[number])[1])
  const asCollaborator = crew.collaborator.inTeam(crew.teamId)
  const read = `query ($id: ID!) { webhook(id: $id) { health { attempts } deliveries { nodes { attemptLog { attempt } } } } }`
  expect((await asCollaborator.graphql(read, { id })).body.data.webhook).toEqual({
    health: { attempts: 1 },
    deliveries: { nodes: [{ attemptLog: [{ attempt: 1 }] }] },
  })
  const start = 'mutation ($id: ID!) { redeliverAll(webhookId: $id) { id status } }'
  expect((await asCollaborator.graphql(start, { id })).body.errors[0].extensions.code).toBe('FORBIDDEN')
  const started = (await crew.admin.inTeam(crew.teamId).graphql(start, { id })).body.data.redeliverAll
  const follow = 'query ($id: ID!) { webhookRedelivery(id: $id) { id } }'
  expect((await asCollaborator.graphql(follow, { id: started.id })).body.data.webhookRedelivery).toEqual({ id: started.id })
  expect((await crew.admin.api.graphql(follow, { id: started.id })).body.errors[0].extensions.code).toBe('NOT_FOUND')
})
