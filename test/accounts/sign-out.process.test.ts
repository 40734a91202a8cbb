// Signing out ends a session on every process at once, with its tokens and event streams.
import { beforeAll, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { refuse } from '../kit/fault.ts'
import type { OpenGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { cookieOf, newPerson, openTwo } from './person.ts'

const refused = 'Missing or invalid token'
let databaseUrl: string
let gateways: [OpenGateway, OpenGateway]

beforeAll(async () => {
  ;({ databaseUrl, gateways } = await openTwo())
})

it.each(['rest', 'graphql'])('ends the session on every process at the next request: %s', async (surface) => {
  const person = await newPerson(gateways[0], databaseUrl)
  const elsewhere = api(gateways[1], undefined, { authorization: `Bearer ${person.token}` })
  const ask = () => (surface === 'rest' ? elsewhere.get('/api/instances') : elsewhere.graphql('{ instances { id } }'))
  expect((await ask()).status).toBe(200)
  const out = await api(gateways[0]).post('/api/auth/logout', undefined, { cookie: person.cookie })
  expect(out.body).toStrictEqual({ data: { loggedOut: true } })
  expect(cookieOf(out)).toBe('gateway.session_token=')
  const answer = await ask()
  expect(answer.status).toBe(401)
  expect(JSON.stringify(answer.body)).toContain(refused)
  expectRefusal(
    await api(gateways[0]).post('/api/auth/token', undefined, { cookie: person.cookie }),
    401,
    'UNAUTHORIZED',
    refused,
  )
})

it('ends the session by its access token alone', async () => {
  const person = await newPerson(gateways[0], databaseUrl)
  await person.api.post('/api/auth/logout')
  expectRefusal(await person.api.get('/api/instances'), 401, 'UNAUTHORIZED', refused)
})

it.each(['cookie', 'token'])('reports no success when the session could not be ended: %s', async (shown) => {
  const person = await newPerson(gateways[0], databaseUrl)
  const headers: Record<string, string> =
    shown === 'cookie' ? { cookie: person.cookie } : { authorization: `Bearer ${person.token}` }
  const out = () => api(gateways[0]).post('/api/auth/logout', undefined, headers)
  const mend = await refuse(databaseUrl, 'delete', 'auth_sessions')
  const answer = await out()
  expectRefusal(answer, 503, 'SERVICE_UNAVAILABLE')
  expect(answer.headers.getSetCookie()).toEqual([])
  await mend()
  expect((await person.api.get('/api/instances')).status).toBe(200)
  expect((await out()).body).toStrictEqual({ data: { loggedOut: true } })
  expectRefusal(await person.api.get('/api/instances'), 401, 'UNAUTHORIZED', refused)
})

it("ends the session's live event streams", async () => {
  const person = await newPerson(gateways[0], databaseUrl)
  const response = await fetch(`${gateways[1].url}/api/events/stream`, { headers: { authorization: `Bearer ${person.token}` } })
  expect(response.status).toBe(200)
  let over = false
  const reading = (async () => {
    for await (const _ of response.body as AsyncIterable<unknown>);
    over = true
  })()
  await person.api.post('/api/auth/logout')
  await until(() => over, { timeoutMs: 5_000 })
  await reading
})
