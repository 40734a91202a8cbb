// Sign-in secrets never reach logs or tables: passwords, tokens and cookies, and addresses in logs, on success or failure.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openMailbox, textOf, tokenIn } from './mailbox.ts'
import { cookieOf, logIn, password } from './person.ts'

it('writes no password, token, cookie or address to a log, and no password or mail token to the database', async () => {
  const databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox()
  const gateway = await openGateway({ databaseUrl, env: { LOG_LEVEL: 'trace', SMTP_URL: mailbox.url } })
  const client = api(gateway)
  const email = `${randomUUID()}@example.com`
  const wrong = 'the wrong password of somebody'
  const next = 'the next password of somebody'

  for (let i = 0; i < 2; i++) await client.post('/api/auth/signup', { email, password, name: 'Ada' })
  await client.post('/api/auth/verify-email/resend', { email })
  // Mails that are ordered one after the other may arrive in another order.
  const verify = tokenIn(await until(() => mailbox.mails.find((mail) => textOf(mail).includes('verify-email?'))))
  await client.post('/api/auth/verify-email', { token: verify })
  await client.post('/api/auth/verify-email', { token: `${verify}x` })
  await logIn(gateway, email, wrong)
  const login = await logIn(gateway, email)
  const [token, cookie] = [login.body.data.accessToken, cookieOf(login)]
  await client.get('/api/instances', { authorization: `Bearer ${token}x` })
  await client.post('/api/auth/password/forgot', { email })
  const reset = await until(() => mailbox.mails.find((mail) => textOf(mail).includes('reset-password?')))
  const resetToken = tokenIn(reset)
  const { rows: inTables } = await tablesOf(databaseUrl)
  // The session id is stored in clear but gives no access: the cookie's signature does, and that is stored nowhere.
  const [sessionId, signature] = decodeURIComponent(cookie.split('=')[1] as string).split('.') as [string, string]
  expect(inTables).toContain(sessionId)
  expect((await client.post('/api/auth/token', undefined, { cookie: `gateway.session_token=${sessionId}` })).status).toBe(401)
  expect((await client.post('/api/auth/token', undefined, { cookie })).status).toBe(200)
  await client.post('/api/auth/password/reset', { token: resetToken, password: next })
  await client.post('/api/auth/password/reset', { token: resetToken, password: next })

  // Database errors contain the refused values.
  await sql(databaseUrl).query(`alter table users add constraint no_more check (name <> 'Mallory') not valid`)
  const mallory = `${randomUUID()}@example.com`
  const broken = await client.post('/api/auth/signup', { email: mallory, password, name: 'Mallory' })
  expect(broken.body.error.code).toBe('INTERNAL_ERROR')
  await gateway.stop()

  const logs = gateway.logs.join('\n')
  expect(logs).toContain('unforeseen error')
  const never = [email, mallory, password, wrong, next, verify, resetToken, token, signature, sessionId]
  for (const mark of never)
    expect(
      logs.split('\n').find((line) => line.includes(mark)),
      mark,
    ).toBeUndefined()
  for (const mark of [password, wrong, verify, resetToken, token, signature]) expect(inTables).not.toContain(mark)
})

/** Every row of every table as text. */
async function tablesOf(databaseUrl: string): Promise<{ rows: string }> {
  const pool = sql(databaseUrl)
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
      where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`,
  )
  const texts = await Promise.all(tables.map(({ name }) => pool.query<{ text: string }>(`select t::text as text from ${name} t`)))
  return { rows: texts.flatMap(({ rows }) => rows.map(({ text }) => text)).join('\n') }
}
