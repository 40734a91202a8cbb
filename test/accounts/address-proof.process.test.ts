// The proof of an address ends the access that was created on its account before: keys, sessions and invitations.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { prisma, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { type Addresses, newEmail, next, openAddresses, theirs } from './address-rig.ts'
import { textOf, tokenIn } from './mailbox.ts'
import { logIn, newPerson, password, signIn } from './person.ts'

let { databaseUrl, mailbox, gateway, client, signUp, verify } = {} as Addresses

beforeAll(async () => {
  ;({ databaseUrl, mailbox, gateway, client, signUp, verify } = await openAddresses())
})

/** The statuses of one request with the key over REST and one over GraphQL. */
async function statusesOf(key: string): Promise<number[]> {
  const rest = await api(gateway, key).get('me')
  const graph = await api(gateway, key).graphql('{ me { id } }')
  return [rest.status, graph.status]
}

describe('access created on an account before its address was proved', () => {
  /** Creates a key of the account, and a team of it with an open invitation. */
  async function belongings(email: string): Promise<{ keys: string[]; teamId: string }> {
    const { key } = await createApiKey(prisma(databaseUrl), { email, name: 'Meanwhile' })
    const { stdout } = await command(['team', 'create', '--owner', email, '--name', 'Ours', '--json'], { databaseUrl })
    const { teamId } = JSON.parse(stdout)
    await sql(databaseUrl).query(
      `insert into team_invitations (id, "teamId", email, role, "tokenHash", "expiresAt")
        values ($1, $2, 'accomplice@example.com', 'admin', $3, now() + interval '7 days')`,
      [randomUUID(), teamId, Buffer.from(randomUUID())],
    )
    return { keys: [key], teamId }
  }
  const invitations = async (teamId: string) =>
    (await sql(databaseUrl).query('select status::text from team_invitations where "teamId" = $1', [teamId])).rows

  const ways: Record<string, (email: string) => Promise<void>> = {
    async 'the mail of the sign-up'(email) {
      expect((await verify(await mailbox.token(email))).status).toBe(200)
    },
    async 'a reset'(email) {
      await client.post('/api/auth/password/forgot', { email })
      const mail = await until(() => mailbox.mails.find((one) => one.to === email && textOf(one).includes('/reset-password?')))
      expect((await client.post('/api/auth/password/reset', { token: tokenIn(mail), password })).status).toBe(200)
    },
    async 'the operator'(email) {
      expect((await command(['account', 'verify', '--email', email], { databaseUrl })).code).toBe(0)
    },
  }

  it.each(Object.keys(ways))('ends with the proof: %s', async (way) => {
    const email = newEmail()
    await signUp(email)
    await mailbox.token(email)
    const { keys, teamId } = await belongings(email)
    expect(await statusesOf(keys[0] as string)).toEqual([200, 200])
    await sql(databaseUrl).query(
      `insert into auth_sessions (id, token, "userId", "expiresAt") select $2, $3, id, now() + interval '1 day' from users where email = $1`,
      [email, randomUUID(), randomUUID()],
    )
    await ways[way]?.(email)
    expect(await statusesOf(keys[0] as string)).toEqual([401, 401])
    expect(await invitations(teamId)).toEqual([{ status: 'revoked' }])
    const sessions = `select from auth_sessions s join users u on u.id = s."userId" where u.email = $1`
    expect((await sql(databaseUrl).query(sessions, [email])).rowCount).toBe(0)
    expect((await logIn(gateway, email)).status).toBe(200)
  })

  it("ends with the owner's reset, even if the owner verified the other person's sign-up by mistake", async () => {
    const email = newEmail()
    await signUp(email, theirs, 'Mallory')
    await verify(await mailbox.token(email))
    const login = await logIn(gateway, email, theirs)
    const mallory = api(gateway, undefined, { authorization: `Bearer ${login.body.data.accessToken}` })
    const { key } = (await mallory.post('/api/api-keys', { name: 'Meanwhile' })).body.data
    const graph = await mallory.graphql('mutation { createApiKey(input: { name: "Too" }) { key } }')
    const { teamId } = await belongings(email)
    await ways['a reset']?.(email)
    expectRefusal(await mallory.get('/api/contacts'), 401, 'UNAUTHORIZED')
    const refused = [await statusesOf(key)]
    // The plan may allow only one key.
    if (graph.body.data) refused.push(await statusesOf(graph.body.data.createApiKey.key))
    for (const statuses of refused) expect(statuses).toEqual([401, 401])
    expect(await invitations(teamId)).toEqual([{ status: 'revoked' }])
    expectRefusal(await logIn(gateway, email, theirs), 401, 'INVALID_CREDENTIALS')
    expect((await logIn(gateway, email)).status).toBe(200)
  })

  it("stays after a password change with the current password and an operator's repeated verification", async () => {
    const person = await newPerson(gateway, databaseUrl)
    await person.api.post('/api/auth/password/change', { currentPassword: password, newPassword: next })
    await command(['account', 'verify', '--email', person.email], { databaseUrl })
    expect(await statusesOf(person.apiKey)).toEqual([200, 200])
    expect((await person.api.get('/api/contacts')).status).toBe(200)
  })

  it('does not include invitations from other accounts', async () => {
    const owner = await newPerson(gateway, databaseUrl)
    const { id: teamId } = (await owner.api.post('/api/teams', { name: 'Ours' })).body.data
    const email = newEmail()
    await owner.api.post(`/api/teams/${teamId}/invitations`, { email, role: 'admin' })
    const invitation = await mailbox.token(email)
    await signUp(email)
    await verify(await mailbox.token(email, 1))
    const guest = await signIn(gateway, { userId: '', workspaceId: '', email, apiKey: '' })
    expect((await guest.api.post('/api/teams/invitations/accept', { token: invitation })).status).toBe(200)
  })
})
