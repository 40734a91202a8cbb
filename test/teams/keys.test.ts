// API keys of a person and of a team stay within the plan, are shown once and are revoked at once.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Api, api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { moment, nobody, uuid } from '../rest-compat/rig.ts'
import { newCrew, newPerson, newTeam, openRig, type Person, type Rig, subscribe, surfaces } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

describe.each(surfaces)("a person's own keys %s", (_, ask) => {
  const create = (who: Parameters<typeof ask>[0], name: unknown = 'Robot') => ask(who, 'POST /api-keys', [], { name })

  it('are shown in full once, return every documented field, and work at once in their own workspace', async () => {
    const person = await newPerson(rig)
    const { data } = await create(person)
    const { key, ...record } = data
    expect(record).toStrictEqual({
      id: uuid,
      name: 'Robot',
      prefix: key.slice(0, 16),
      access: 'full',
      createdAt: moment,
      lastUsedAt: null,
    })
    expect(key).toMatch(/^svc_live_[0-9a-f]{64}$/)
    const listed = await ask(person, 'GET /api-keys')
    expect(listed.data).toStrictEqual([
      { ...record, id: uuid, name: 'First key', prefix: expect.any(String), access: 'full', createdAt: moment },
      record,
    ])
    expect(JSON.stringify(listed.answer.body)).not.toContain(key.slice(17))
    expect((await api(rig.gateway, key).get('me')).body.data.id).toBe(person.userId)
  })

  it('stop working at the next request after revocation, and cannot be revoked again', async () => {
    const person = await newPerson(rig)
    const { data } = await create(person)
    expect((await ask(person, 'DELETE /api-keys/:id', [data.id])).data).toStrictEqual({ id: data.id, deleted: true })
    expect((await api(rig.gateway, data.key).get('me')).status).toBe(401)
    expect((await ask(person, 'DELETE /api-keys/:id', [data.id])).code).toBe('NOT_FOUND')
    expect((await ask(person, 'GET /api-keys')).data).toHaveLength(1)
  })

  it('are private: keys of another account, of a team and unknown keys give the same not-found error', async () => {
    const { teamId, owner, admin } = await newCrew(rig)
    const others = await ask(admin, 'GET /api-keys')
    const teams = await ask(owner, 'POST /teams/:teamId/api-keys', [teamId], { name: 'Robot' })
    for (const id of [others.data[0].id, teams.data.id, nobody]) {
      const { code, message } = await ask(owner, 'DELETE /api-keys/:id', [id])
      expect([code, message]).toEqual(['NOT_FOUND', 'API key not found'])
    }
    expect((await ask(owner, 'DELETE /api-keys/:id', ['x'])).message).toBe('id: must be a UUID')
    expect((await ask(owner, 'GET /api-keys')).data).toHaveLength(1)
  })

  it('require a name of 1 to 100 characters', async () => {
    const person = await newPerson(rig)
    for (const name of [null, '', 'x'.repeat(101), 5, {}]) {
      const outcome = await create(person, name)
      expect([outcome.code, outcome.message]).toEqual(['VALIDATION_ERROR', expect.stringMatching(/name: /)])
    }
  })

  it('are limited by the plan together with team keys, even when twenty of both are created concurrently', async () => {
    for (const [plan, most] of [
      ['free', 1],
      ['pro', 5],
      ['max', 10],
    ] as const) {
      const person = await newPerson(rig, plan)
      const { teamId } = await newTeam(rig, person)
      const createInTeam = () => ask(person, 'POST /teams/:teamId/api-keys', [teamId], { name: 'Robot' })
      const outcome = await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? create(person) : createInTeam())))
      expect(outcome.filter(({ code }) => code === null)).toHaveLength(most - 1)
      expect(outcome.filter(({ code }) => code === 'MAX_API_KEYS_REACHED')).toHaveLength(21 - most)
      const listed = [await ask(person, 'GET /api-keys'), await ask(person, 'GET /teams/:teamId/api-keys', [teamId])]
      expect(listed.flatMap(({ data }) => data)).toHaveLength(most)
    }
  })

  it("follow their owner's plan and workspace, even when the request selects a team", async () => {
    const { teamId, owner, admin } = await newCrew(rig)
    await subscribe(rig, admin, 'free')
    const there = { api: admin.inTeam(teamId) }
    expect((await create(there)).code).toBe('MAX_API_KEYS_REACHED')
    await subscribe(rig, admin, 'pro')
    await subscribe(rig, owner, 'free')
    const { data } = await create(there)
    expect((await api(rig.gateway, data.key).get('me')).body.data.id).toBe(admin.userId)
    const mixed = await there.api.graphql('{ apiKeys { name } contacts { nodes { id } } }')
    expect(mixed.body.data).toEqual({ apiKeys: [{ name: 'First key' }, { name: 'Robot' }], contacts: { nodes: [] } })
  })

  it('cannot be created without an active subscription, but can be listed and revoked', async () => {
    const person = await newPerson(rig)
    const { data } = await create(person)
    await subscribe(rig, person, 'max', 'inactive')
    expect((await create(person, null)).code).toBe('SUBSCRIPTION_INACTIVE')
    expect((await ask(person, 'GET /api-keys')).data).toHaveLength(2)
    expect((await ask(person, 'DELETE /api-keys/:id', [data.id])).code).toBe(null)
  })

  it('cannot create or list keys themselves', async () => {
    const { apiKey } = await newPerson(rig)
    const { status, body } = await api(rig.gateway, apiKey).graphql('{ apiKeys { id } }')
    expect([status, body.errors[0].extensions.code]).toEqual([200, 'FORBIDDEN'])
    expect((await api(rig.gateway, apiKey).get('/api/api-keys')).status).toBe(401)
  })
})

it.each(surfaces)('have the access that they were created with, and `full` by default %s', async (_, ask) => {
  const { teamId, owner } = await newCrew(rig)
  for (const [route, params] of [
    ['POST /api-keys', []],
    ['POST /teams/:teamId/api-keys', [teamId]],
  ] as const) {
    const create = (access?: unknown) => ask(owner, route, params, { name: 'Robot', access })
    const made = [await create(), await create('send'), await create('read')]
    expect(made.map(({ data }) => data.access)).toEqual(['full', 'send', 'read'])
    const { data } = await ask(owner, route.replace('POST', 'GET'), params)
    expect(data.slice(-3).map(({ access }: { access: string }) => access)).toEqual(['full', 'send', 'read'])
    for (const wrong of ['write', '', 5]) {
      const { code, message } = await create(wrong)
      expect([code, message]).toEqual(['VALIDATION_ERROR', expect.stringMatching(/access: /)])
    }
    const own: Record<string, string> = params.length > 0 ? { 'x-team-id': teamId } : {}
    const [, send, read] = made.map(({ data: { key } }) => api(rig.gateway, key, own)) as [Api, Api, Api]
    expect([(await send.get('messages')).status, (await send.get('contacts')).status]).toEqual([200, 403])
    expect([(await read.get('contacts')).status, (await read.post('contacts', {})).status]).toEqual([200, 403])
    // The kind of the key comes first.
    if (params.length > 0) expect((await send.get('me')).body.error.code).toBe('TEAM_KEY_NOT_ALLOWED')
  }
})

it('replays a repeated creation, including the key, and creates only one', async () => {
  const { teamId, owner } = await newCrew(rig)
  for (const [path, body] of [
    ['/api/api-keys', { name: 'Robot' }],
    ['/api/teams', { name: 'Team' }],
    [`/api/teams/${teamId}/api-keys`, { name: 'Robot' }],
    [`/api/teams/${teamId}/invitations`, { email: 'guest@example.com', role: 'admin' }],
  ] as const) {
    const send = () => owner.api.post(path, body, { 'idempotency-key': path })
    const [one, other] = [await send(), await send()]
    expect([one.status, other.status, other.body]).toEqual([201, 201, one.body])
    expect(other.headers.get('idempotency-replayed')).toBe('true')
  }
  const input = '{ name: "Once", idempotencyKey: "once" }'
  const again = () => owner.api.graphql(`mutation { createTeamApiKey(teamId: "${teamId}", input: ${input}) { key } }`)
  expect((await again()).body).toEqual((await again()).body)
  expect((await owner.api.get(`/api/teams/${teamId}/api-keys`)).body.data).toHaveLength(2)
})

it('never replays a response with its secrets to another member who reuses the idempotency key', async () => {
  const { teamId, owner, admin, collaborator } = await newCrew(rig)
  const endpoint = { url: 'http://127.0.0.1:9/', events: ['message.sent'] }
  const send = (person: Person) => person.inTeam(teamId).post('/api/webhooks', endpoint, { 'idempotency-key': 'shared' })
  const first = await send(owner)
  expect([first.status, (await send(owner)).body]).toEqual([201, first.body])
  for (const other of [admin, collaborator]) {
    const { status, body } = await send(other)
    expect([status, body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  }
})

describe('the selected operation of a document with several', () => {
  const as = (api: Api, operationName: string, query: string) =>
    api.post('/graphql', { query, operationName }, { accept: 'application/json' })
  const codeOf = async (answer: Promise<Answer>) => (await answer).body.errors?.[0].extensions.code ?? null

  it('alone decides the workspace and the permitted keys', async () => {
    const { teamId, owner, outsider } = await newCrew(rig)
    const query =
      'query A { teams { id } } query B { contacts { nodes { id } } } query C { me { id } } query D { plans { code } }'
    const all = (api: Api) => Promise.all(['A', 'B', 'C', 'D'].map((name) => codeOf(as(api, name, query))))
    expect(await all(outsider.inTeam(teamId))).toEqual([null, 'TEAM_NOT_FOUND', 'TEAM_NOT_FOUND', null])
    const { key } = (await owner.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' })).body.data
    const robot = api(rig.gateway, key, { 'x-team-id': teamId })
    expect(await all(robot)).toEqual(['FORBIDDEN', null, 'TEAM_KEY_NOT_ALLOWED', null])
    const address = (name: string) => `/graphql?${new URLSearchParams({ query, operationName: name })}`
    expect(await Promise.all(['A', 'B'].map((name) => codeOf(outsider.inTeam(teamId).get(address(name)))))).toEqual([
      null,
      'TEAM_NOT_FOUND',
    ])
  })

  it('is refused to a key that may not use every part of it', async () => {
    const { teamId, owner } = await newCrew(rig)
    const { key } = (await owner.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' })).body.data
    const query = 'query A { me { id } contacts { nodes { id } } } query B { plans { code } me { id } }'
    const both = (own: string) =>
      Promise.all(['A', 'B'].map((name) => codeOf(as(api(rig.gateway, own, { 'x-team-id': teamId }), name, query))))
    expect(await both(owner.apiKey)).toEqual(['TEAM_KEY_REQUIRED', null])
    expect(await both(key)).toEqual(['TEAM_KEY_NOT_ALLOWED', 'TEAM_KEY_NOT_ALLOWED'])
    expect(await codeOf(as(api(rig.gateway, owner.apiKey), 'A', query))).toBe(null)
  })

  it.each(['createTeam', 'createApiKey'])("is judged by the caller's own subscription under its lock: %s", async (field) => {
    const { teamId, admin } = await newCrew(rig)
    const query = `mutation A { ${field}(input: { name: "Mine" }) { id } } query B { contacts { nodes { id } } }`
    const create = () => codeOf(as(admin.inTeam(teamId), 'A', query))
    const ends = `update subscriptions set status = 'inactive' where "userId" = $1`
    expect(await whileHeld(rig.databaseUrl, [ends, admin.userId], [create])).toEqual(['SUBSCRIPTION_INACTIVE'])
    // The subscription of the team's owner does not count here: it is still active.
    expect(await create()).toBe('SUBSCRIPTION_INACTIVE')
    const { rows } = await sql(rig.databaseUrl).query(
      `select (select count(*)::int from teams where "ownerId" = $1) as teams, (select count(*)::int from api_keys where "userId" = $1) as keys`,
      [admin.userId],
    )
    expect(rows).toEqual([{ teams: 0, keys: 1 }])
  })
})
