// Proves that every example that only the console's document shows succeeds when a permitted person sends it.
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/service.ts'
import { makeSignInLink } from '../../src/accounts/sign-in/link.ts'
import { logIn } from '../accounts/person.ts'
import { type Answer, api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { invited, join, mailsTo, newPerson, newTeam, openOwnRig, type Person, type Rig } from '../teams/rig.ts'
import { type Call, callsOf } from './calls.ts'

/** Operations of both surfaces have the same examples; examples.test.ts sends them with a key. */
const ofBoth = new Set(callsOf('public').map(({ operation }) => operation.operationId))
const calls = callsOf('console').filter(({ operation }) => !ofBoth.has(operation.operationId))

/**
 * The owner of a team cannot change to Free, which has no teams; single-sign-on.test.ts covers the routes of identity
 * providers.
 */
const apart = ['teamBillingCancel', 'leaveForProvider', 'returnFromProvider']

let rig: Rig

beforeAll(async () => {
  rig = await openOwnRig()
})

/** The person who sends the example, and the values that replace its placeholders, such as tokens from mails. */
interface Scene {
  person: Person
  params?: Record<string, string>
  body?: Record<string, unknown>
  headers?: Record<string, string>
}

const mailed = 'ada@example.com'

/** Prepares the state that an example requires; every call has its own people and team. */
const before: Record<string, (scene: Scene, call: Call) => Promise<Partial<Scene>>> = {
  verifyEmail: async () => ({ body: { token: await tokenOf('verify-email') } }),
  resetPassword: async () => ({ body: { token: await tokenOf('reset-password') } }),
  async signInByLink({ person: { email } }) {
    const link = await makeSignInLink(prisma(rig.databaseUrl), { email, base: rig.gateway.url })
    return { body: { token: link.split('#once=')[1] } }
  },
  async changePassword({ person }, { example }) {
    const { currentPassword: password } = exampleBody<{ currentPassword: string }>(example)
    const { email } = await createAccount(prisma(rig.databaseUrl), { email: 'x@example.com', name: 'X', plan: 'free', password })
    const { accessToken } = (await logIn(rig.gateway, email, password)).body.data
    return { person: { ...person, api: api(rig.gateway, undefined, { authorization: `Bearer ${accessToken}` }) } }
  },
  async renewToken({ person }) {
    // Old enough for its expiry to be extended.
    const older = `update auth_sessions set "expiresAt" = "expiresAt" - interval '2 days' where "userId" = $1`
    await sql(rig.databaseUrl).query(older, [person.userId])
    return { headers: { cookie: person.cookie } }
  },
  async endSession({ person }) {
    const { body } = await person.api.get('/api/auth/sessions')
    return { params: { id: body.data[0].id } }
  },
  async revokeApiKey({ person }) {
    const { body } = await person.api.post('/api/api-keys', { name: 'Robot' })
    return { params: { id: body.data.id } }
  },
  async acceptTeamInvitation({ person }, { example }) {
    const { token } = exampleBody<{ token: string }>(example)
    const { teamId } = await newTeam(rig, await newPerson(rig))
    const { id } = await invited(rig, teamId, person.email)
    const hash = createHash('sha256').update(token).digest()
    await sql(rig.databaseUrl).query('update team_invitations set "tokenHash" = $2 where id = $1', [id, hash])
    return {}
  },
  async revokeTeamInvitation(scene) {
    const { id } = await invited(rig, scene.params?.teamId as string, 'grace@example.com')
    return { params: { ...scene.params, id } }
  },
  async revokeTeamApiKey({ person, params }) {
    const { body } = await person.api.post(`/api/teams/${params?.teamId}/api-keys`, { name: 'Robot' })
    return { params: { ...params, id: body.data.id } }
  },
  async leaveTeam({ params }) {
    const person = await newPerson(rig)
    await join(rig, params?.teamId as string, person, 'admin')
    return { person }
  },
  resumeSubscription: cancelled,
  teamBillingResume: cancelled,
}

function exampleBody<Value>(example: Call['example']): Value {
  return example?.value as Value
}

/** The token in the mail that links to that page, after `signUp` or `forgotPassword` sent it. */
async function tokenOf(page: string): Promise<string> {
  const form = new RegExp(`/${page}\\?token=([\\w.-]+)`)
  return await until(() => mailsTo(rig, mailed).flatMap((mail) => form.exec(mail)?.[1] ?? [])[0])
}

async function cancelled({ person }: Scene): Promise<Partial<Scene>> {
  await sql(rig.databaseUrl).query(
    `update subscriptions set status = 'cancelled', "cancelAtPeriodEnd" = true where "userId" = $1`,
    [person.userId],
  )
  return {}
}

/** A person on Pro, with a team and a member in it where the path names one. */
async function sceneOf(call: Call): Promise<Scene> {
  const person = await newPerson(rig, 'pro')
  const scene: Scene = { person }
  if (call.path.includes('{teamId}')) {
    const member = await newPerson(rig)
    const { teamId } = await newTeam(rig, person)
    await join(rig, teamId, member, 'collaborator')
    scene.params = { teamId, userId: member.userId }
  }
  return { ...scene, ...(await before[call.operation.operationId]?.(scene, call)) }
}

async function send({ method, path, example }: Call, { person, params = {}, body, headers }: Scene): Promise<Answer> {
  const at = `/api${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] as string)}`
  const given = example ? { ...(example.value as object), ...body } : undefined
  if (method === 'get') return await person.api.get(at, headers)
  return await person.api[method as 'post' | 'put' | 'delete'](at, given, headers)
}

describe('the example', () => {
  const sent = calls.filter(({ operation }) => !apart.includes(operation.operationId))

  it.each(sent.map((call): [string, string, Call] => [call.operation.operationId, call.example?.summary ?? 'as it is', call]))(
    'of %s succeeds: %s',
    async (_, __, call) => {
      const { status, body, headers } = await send(call, await sceneOf(call))
      const success = Object.keys(call.operation.responses).filter((one) => one.startsWith('2'))
      expect(success, JSON.stringify(body)).toContain(String(status))
      const outcome = call.operation.responses[status] as { headers: object }
      expect(headers.has('set-cookie')).toBe('Set-Cookie' in outcome.headers)
    },
  )

  it('exists for every body', () => {
    const bodies = calls.filter(({ operation }) => operation.requestBody)
    expect(bodies.filter(({ example }) => !example).map(({ operation }) => operation.operationId)).toEqual([])
    expect(bodies.length).toBeGreaterThan(15)
  })
})
