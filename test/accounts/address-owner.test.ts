// An address belongs to the person who reads its mail, even if another person signed up with it first.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { until } from '../kit/until.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { type Addresses, newEmail, next, openAddresses, theirs } from './address-rig.ts'
import { textOf, tokenIn } from './mailbox.ts'
import { logIn, newAccount, password } from './person.ts'

let { databaseUrl, mailbox, gateway, client, signUp, verify } = {} as Addresses

beforeAll(async () => {
  ;({ databaseUrl, mailbox, gateway, client, signUp, verify } = await openAddresses())
})

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
    expectRefusal(refused, 401, 'INVALID_CREDENTIALS', 'password: is not the password of the sign-up that this mail belongs to')
    expectRefusal(await logIn(gateway, email, theirs), 403, 'EMAIL_NOT_VERIFIED')
    expect((await verify(token, { password: theirs })).status).toBe(200)
  })

  it('comes with instructions for a person who did not sign up, and without the given name', async () => {
    const email = newEmail()
    await signUp(email, password, 'Go to evil.example')
    const mail = await until(() => mailbox.mails.find(({ to }) => to === email))
    expect(textOf(mail)).toMatch(/If it was not you, do not open the link/)
    expect(mail.raw).not.toContain('evil')
  })
})
