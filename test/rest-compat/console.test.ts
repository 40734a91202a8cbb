// The console API beyond its routes: files, streams, refusals and idempotency, in a personal and in a team workspace.
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../kit/until.ts'
import { type Crew, newCrew, openRig, type Person, type Rig } from '../teams/rig.ts'
import { expectRefusal, moment } from './rig.ts'

let rig: Rig
let crew: Crew

beforeAll(async () => {
  rig = await openRig()
  crew = await newCrew(rig)
})

/** A request as a browser makes it, in the workspace of the team if one is given. */
function ask(person: Person, path: string, init: RequestInit = {}, teamId?: string): Promise<Response> {
  const headers = { authorization: `Bearer ${person.token}`, ...(teamId && { 'x-team-id': teamId }), ...init.headers }
  return fetch(rig.gateway.url + path, { ...init, headers })
}

describe('a person', () => {
  it('reads the same profile in every workspace, and usage per workspace', async () => {
    const { teamId, owner, admin } = await newCrew(rig)
    const read = async (path: string, headers = {}) => (await admin.api.get(path, headers)).body.data
    const byKey = async (path: string) => (await owner.api.get(`/api/v1/${path}`, { 'x-api-key': owner.apiKey })).body.data
    expect(await read('/api/me')).toEqual({ ...(await byKey('me')), id: admin.userId, email: admin.email, createdAt: moment })
    expect(await read('/api/me', { 'x-team-id': teamId })).toEqual(await read('/api/me'))
    expect(await read('/api/usage', { 'x-team-id': teamId })).toEqual({ ...(await byKey('usage')), apiRequestsCount: 1 })
    expect((await read('/api/usage')).apiRequestsCount).toBe(0)
  })
})

describe('a file', () => {
  it('uploaded into a team is readable in that team only', async () => {
    const { teamId, collaborator, owner, outsider } = crew
    const body = new FormData()
    body.set('file', new Blob([Buffer.from('%PDF-1.4\n%%EOF\n')]), 'note.pdf')
    const uploaded = await ask(collaborator, '/api/media', { method: 'POST', body }, teamId)
    const { data } = (await uploaded.json()) as { data: { id: string; mimeType: string } }
    expect([uploaded.status, data.mimeType]).toEqual([201, 'application/pdf'])
    const path = `/api/media/${data.id}`
    expect((await ask(owner, path, {}, teamId)).status).toBe(200)
    // The file belongs to the team, so a member does not find it in their personal workspace.
    expect((await ask(owner, path)).status).toBe(404)
    expect((await ask(outsider, path)).status).toBe(404)
    expect(await (await ask(outsider, path, {}, teamId)).json()).toMatchObject({ error: { code: 'TEAM_NOT_FOUND' } })
    expect((await fetch(rig.gateway.url + path)).status).toBe(401)
  })
})

describe('a stream', () => {
  it('of a team ends within 5 s for a removed member and continues for the others', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    const over = { admin: false, collaborator: false }
    for (const who of ['admin', 'collaborator'] as const) {
      const response = await ask({ admin, collaborator }[who], '/api/events/stream', {}, teamId)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
      void read(response).then(() => {
        over[who] = true
      })
    }
    const removed = await owner.api.delete(`/api/teams/${teamId}/members/${collaborator.userId}`)
    expect(removed.status).toBe(200)
    await until(() => over.collaborator, { timeoutMs: 5_000 })
    expect(over.admin).toBe(false)
  })

  async function read(response: Response): Promise<void> {
    // The loop also ends when the gateway stops at the end of the test.
    for await (const _ of response.body as AsyncIterable<unknown>);
  }
})

describe('a request', () => {
  it('repeated under its Idempotency-Key is executed once per workspace', async () => {
    const { owner, teamId } = crew
    const headers = { 'idempotency-key': 'the same' }
    const post = (api: Person['api']) => api.post('/api/contacts', { name: 'Ada', phone: '+4915112345678' }, headers)
    const [first, again, inTeam] = [await post(owner.api), await post(owner.api), await post(owner.inTeam(teamId))]
    expect([first.status, again.status, inTeam.status]).toEqual([201, 201, 201])
    expect(again.body).toEqual(first.body)
    expect([first, again, inTeam].map(({ headers: outcome }) => outcome.get('idempotency-replayed'))).toEqual([
      null,
      'true',
      null,
    ])
    expect(inTeam.body.data.id).not.toBe(first.body.data.id)
  })

  it('carries no rate limit headers and counts against no request quota', async () => {
    const { owner } = crew
    const { headers } = await owner.api.get('/api/contacts')
    expect([...headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([])
    expect((await owner.api.get('/api/billing/usage')).body.data.usage.apiRequestsCount).toBe(0)
  })

  it('with an unknown path, another method or an invalid body is refused in the standard error envelope', async () => {
    const { api } = crew.owner
    expectRefusal(await api.get('/api/nothing'), 404, 'NOT_FOUND')
    const answer = await api.put('/api/teams', { name: 'x' })
    expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED')
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'POST'])
    expectRefusal(await api.post('/api/teams', '{"name":'), 400, 'VALIDATION_ERROR')
    expectRefusal(await api.post('/api/teams', '"x"', { 'content-type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE')
    expectRefusal(await api.post('/api/auth/login', { email: 'x'.repeat(1_100_000) }), 413, 'PAYLOAD_TOO_LARGE')
    expectRefusal(await api.post('/api/statuses', {}), 403, 'STATUSES_NOT_AVAILABLE_ON_PLAN')
  })

  it('for me over GraphQL returns the same person and plan in every workspace', async () => {
    const { collaborator, teamId } = await newCrew(rig, 'pro')
    const query = '{ me { id plan { code } } plans { code } }'
    for (const api of [collaborator.api, collaborator.inTeam(teamId)]) {
      expect((await api.graphql(query)).body.data.me).toEqual({ id: collaborator.userId, plan: { code: 'max' } })
    }
  })

  it('with an API key is refused, because keys belong to the public API', async () => {
    const { owner } = crew
    const answer = await fetch(`${rig.gateway.url}/api/contacts`, { headers: { 'x-api-key': owner.apiKey } })
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { error: { code: 'UNAUTHORIZED', message: 'Missing or invalid token' } },
    ])
  })
})
