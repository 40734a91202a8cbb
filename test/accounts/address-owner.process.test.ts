// An address belongs to the person who reads its mail: an earlier sign-up by another person leaves nothing behind.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/service.ts'
import { refuse } from '../kit/fault.ts'
import { type Answer, type Api, api, cloneDatabase, command, type Gateway, sql, startGateway, until } from '../kit/kit.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { type Mailbox, openMailbox, textOf, tokenIn } from './mailbox.ts'
import { logIn, newAccount, newPerson, password, signIn } from './person.ts'

let databaseUrl: string
let mailbox: Mailbox
let gateway: Gateway
let client: Api
const theirs = 'the password of mallory'
const next = 'another horse battery'

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  mailbox = await openMailbox()
  gateway = await startGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  client = api(gateway)
})

const newEmail = () => `${randomUUID()}@example.com`
const signUp = (email: string, chosen = password, name = 'Ada') =>
  client.post('/api/auth/signup', { email, password: chosen, name })
const verify = (token: string, fields: object = {}) => client.post('/api/auth/verify-email', { token, ...fields })

/** The statuses of one request with the key over REST and one over GraphQL. */
async function statusesOf(key: string): Promise<number[]> {
  const rest = await api(gateway, key).get('me')
  const graph = await api(gateway, key).graphql('{ me { id } }')
  return [rest.status, graph.status]
}

describe('an address that another person signed up with first', () => {
  it("gets the password of its owner's later sign-up, and the token of the earlier mail is invalid", async () => {
    const email = newEmail()
    await signUp(email, theirs, 'Mallory')
    const first = await mailbox.token(email)
    expect((await signUp(email)).status).toBe(201)
    const second = await mailbox.token(email, 1)
    expectRefusal(await logIn(gateway, email, theirs), 401, 'INVALID_CREDENTIALS')
    expectRefusal(await logIn(gateway, email), 403, 'EMAIL_NOT_VERIFIED')
    expectRefusal(await verify(first), 400, 'INVALID_TOKEN')
    expect((await verify(second)).body).toStrictEqual({ data: { verified: true } })
    expectRefusal(await logIn(gateway, email, theirs), 401, 'INVALID_CREDENTIALS')
    const login = await logIn(gateway, email)
    expect(login.status).toBe(200)
    expect(login.body.data.user).toMatchObject({ email, name: 'Ada', emailVerified: true })
  })

  it('is answered on a second sign-up like an unknown address and like one with a verified account', async () => {
    const unproved = newEmail()
    await signUp(unproved)
    const { email: known } = await newAccount(databaseUrl)
    const shape = ({ status, body: { data } }: Answer) => {
      const { id, email, createdAt, ...rest } = data.user
      return {
        status,
        rest,
        fresh: Date.parse(createdAt) > begun,
        version: id[14],
        names: Object.keys(data.user),
        email: Boolean(email),
      }
    }
    const begun = Date.now() - 60_000
    const shapes = [shape(await signUp(unproved)), shape(await signUp(known)), shape(await signUp(newEmail()))]
    expect(shapes[0]).toEqual(shapes[2])
    expect(shapes[1]).toEqual(shapes[2])
  })

  it('accepts the tokens of both mails when an identical sign-up is sent twice', async () => {
    const email = newEmail()
    await signUp(email)
    const first = await mailbox.token(email)
    await signUp(email)
    await mailbox.token(email, 1)
    expect((await verify(first)).status).toBe(200)
    expect((await logIn(gateway, email)).status).toBe(200)
  })

  it('invalidates the first mail when either the password or the name of the second sign-up differs', async () => {
    for (const [chosen, name] of [
      [password, 'Mallory'],
      [theirs, 'Ada'],
    ] as const) {
      const email = newEmail()
      await signUp(email)
      const first = await mailbox.token(email)
      await signUp(email, chosen, name)
      expectRefusal(await verify(first), 400, 'INVALID_TOKEN')
    }
  })

  it('keeps the earlier sign-up when the mail limit leaves no mail for another', async () => {
    const email = newEmail()
    await signUp(email)
    for (let i = 1; i < 5; i++) await signUp(email)
    const token = await mailbox.token(email, 4)
    expect((await signUp(email, theirs)).status).toBe(201)
    expectRefusal(await logIn(gateway, email, theirs), 401, 'INVALID_CREDENTIALS')
    expect((await verify(token)).status).toBe(200)
    expect((await logIn(gateway, email)).status).toBe(200)
  })

  it('stays unchanged when the second sign-up fails midway', async () => {
    const email = newEmail()
    await signUp(email)
    const token = await mailbox.token(email)
    const mend = await refuse(databaseUrl, 'delete', 'auth_accounts')
    expectRefusal(await signUp(email, theirs), 503, 'SERVICE_UNAVAILABLE')
    await mend()
    expect((await verify(token)).status).toBe(200)
    expect((await logIn(gateway, email)).status).toBe(200)
  })

  it('becomes one account with one password, even for concurrent sign-ups', async () => {
    const email = newEmail()
    const chosen = Array.from({ length: 5 }, (_, i) => `password number ${i}`)
    await Promise.all(chosen.map((one) => signUp(email, one)))
    const tokens = await Promise.all(chosen.map((_, i) => mailbox.token(email, i)))
    const verified: number[] = []
    for (const token of tokens) verified.push((await verify(token)).status)
    expect(verified.sort()).toEqual([200, 400, 400, 400, 400])
    const logins = await Promise.all(chosen.slice(0, 4).map((one) => logIn(gateway, email, one)))
    logins.push(await logIn(gateway, email, chosen[4]))
    expect(logins.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1)
  })
})

describe('a token that verifies an address', () => {
  it('works once, even under concurrency', async () => {
    const email = newEmail()
    await signUp(email)
    const token = await mailbox.token(email)
    const answers = await Promise.all(Array.from({ length: 6 }, () => verify(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400])
    expectRefusal(await verify(token), 400, 'INVALID_TOKEN')
  })

  it('invalidates the other tokens of the same sign-up, and expires after a day', async () => {
    const email = newEmail()
    await signUp(email)
    await client.post('/api/auth/verify-email/resend', { email })
    const [first, second] = [await mailbox.token(email), await mailbox.token(email, 1)]
    const age = (by: string) =>
      sql(databaseUrl).query(
        `update auth_verifications set "expiresAt" = "expiresAt" - $2::interval
          where value = (select 'verify-email:' || id from users where email = $1)`,
        [email, by],
      )
    await age('23 hours')
    expect((await verify(first)).status).toBe(200)
    expectRefusal(await verify(second), 400, 'INVALID_TOKEN')
    const late = newEmail()
    await signUp(late)
    const token = await mailbox.token(late)
    await sql(databaseUrl).query(`update auth_verifications set "expiresAt" = "expiresAt" - interval '24 hours'`)
    expectRefusal(await verify(token), 400, 'INVALID_TOKEN')
  })

  it('does not work for a password reset, nor does a reset token verify an address', async () => {
    const email = newEmail()
    await signUp(email)
    const token = await mailbox.token(email)
    expectRefusal(await client.post('/api/auth/password/reset', { token, password: next }), 400, 'INVALID_TOKEN')
    await client.post('/api/auth/password/forgot', { email })
    const mail = await until(() => mailbox.mails.find((one) => one.to === email && textOf(one).includes('/reset-password?')))
    expectRefusal(await verify(tokenIn(mail)), 400, 'INVALID_TOKEN')
  })

  it('is refused with a password that is not the one of its sign-up, and stays valid', async () => {
    const email = newEmail()
    await signUp(email, theirs, 'Mallory')
    const token = await mailbox.token(email)
    const refused = await verify(token, { password })
    expectRefusal(refused, 401, 'INVALID_CREDENTIALS', 'password: is not the one of the sign-up that this mail is about')
    expectRefusal(await logIn(gateway, email, theirs), 403, 'EMAIL_NOT_VERIFIED')
    expect((await verify(token, { password: theirs })).status).toBe(200)
  })

  it('comes with instructions for a person who did not sign up, and without the given name', async () => {
    const email = newEmail()
    await signUp(email, password, 'Go to evil.example')
    const mail = await until(() => mailbox.mails.find(({ to }) => to === email))
    expect(textOf(mail)).toMatch(/If it was not you, do not follow the link/)
    expect(mail.raw).not.toContain('evil')
  })
})

describe('access created on an account before its address was proved', () => {
  /** Creates a key of the account, and a team of it with an open invitation. */
  async function belongings(email: string): Promise<{ keys: string[]; teamId: string }> {
    const { key } = await createApiKey(sql(databaseUrl), { email, name: 'Meanwhile' })
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
