// Queued mails are sent after any outage of the mail server, and their tokens are never stored in clear.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createMailer, mailer } from '../../src/accounts/mail/mailer.ts'
import { api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { startGateway } from '../kit/gateway.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { openMailbox, tokenIn } from './mailbox.ts'
import { logIn, newAccount, password } from './person.ts'

const newEmail = () => `${randomUUID()}@example.com`

it('sends a mail once the mail server is back, even if the gateway that queued it was killed', async () => {
  const databaseUrl = await cloneDatabase()
  // It closes every connection and holds the port until the mailbox takes it, because another process might take it otherwise.
  const away = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(away, 'listening')
  atEnd('test', async () => void away.close())
  const { port } = away.address() as AddressInfo
  const env = { SMTP_URL: `smtp://127.0.0.1:${port}` }
  const first = await startGateway({ databaseUrl, env })
  const email = newEmail()
  expect((await api(first).post('/api/auth/signup', { email, password, name: 'Ada' })).status).toBe(201)
  await until(async () => (await mails(databaseUrl)).length === 1)
  first.kill('SIGKILL')
  await first.exited
  const [row] = await mails(databaseUrl)

  const second = await openGateway({ databaseUrl, env: { ...env, PUBLIC_URL: 'http://moved.example' } })
  await new Promise((resolve) => away.close(resolve))
  const mailbox = await openMailbox({ port })
  const mail = await until(() => mailbox.mails.find(({ to }) => to === email), { timeoutMs: 90_000 })
  // The second gateway sends the mail as it was queued by the first.
  expect(mail.raw).toMatch(/^Message-ID: <[0-9a-f-]{36}@127\.0\.0\.1>\r$/m)
  const token = tokenIn(mail)
  // The stored row is sealed: it contains neither the address nor the token.
  for (const secret of [email, token]) expect(row?.content.includes(Buffer.from(secret))).toBe(false)
  expect((await api(second).post('/api/auth/verify-email', { token })).status).toBe(200)
  await until(async () => (await mails(databaseUrl)).length === 0)
  expect((await logIn(second, email)).status).toBe(200)
})

it('retries a refused mail under the same message id', async () => {
  const databaseUrl = await cloneDatabase()
  let refusals = 2
  const mailbox = await openMailbox({ refuse: () => refusals-- > 0 })
  const gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  const { email } = await newAccount(databaseUrl)
  await api(gateway).post('/api/auth/password/forgot', { email })
  const mail = await until(() => mailbox.mails[0])
  const ids = [...mailbox.refused, mail].map(({ raw }) => /^Message-ID: (.*)\r$/m.exec(raw)?.[1])
  expect(ids).toHaveLength(3)
  expect(new Set(ids)).toEqual(new Set([expect.stringMatching(/^<[0-9a-f-]{36}@127\.0\.0\.1>$/)]))
  expect(mailbox.mails).toHaveLength(1)
})

it('sends a mail once, although the database was away when the mail server had taken it', async () => {
  const databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox()
  const gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  const { email } = await newAccount(databaseUrl)
  const away = await refuse(databaseUrl, 'delete', 'mails')
  await api(gateway).post('/api/auth/password/forgot', { email })
  await away.happened()
  await away()
  await until(async () => (await mails(databaseUrl)).length === 0)
  expect(mailbox.mails).toHaveLength(1)
})

it('retries a mail for three days and then deletes it', async () => {
  const databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox({ refuse: () => true })
  const gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  const { email } = await newAccount(databaseUrl)
  await api(gateway).post('/api/auth/password/forgot', { email })
  await until(() => mailbox.refused[0])
  const { rows } = await sql(databaseUrl).query<{ hours: number }>(
    // The average delay of pg-boss: between half of the doubled delay and all of it, up to the maximum.
    `select sum(least(retry_delay_max, retry_delay * 2 ^ least(16, n) * 0.75)) / 3600 as hours
      from pgboss.queue, generate_series(1, retry_limit) n where name = 'mail.send'`,
  )
  expect(Math.round(Number(rows[0]?.hours) / 24)).toBe(3)
  expect(await mails(databaseUrl)).toHaveLength(1)
  await until(async () => {
    // Repeat the update: a job that is being settled becomes a new row, which this update does not see.
    await sql(databaseUrl).query(`update pgboss.job set retry_limit = retry_count where name = 'mail.send'`)
    return (await mails(databaseUrl)).length === 0
  })
  expect(mailbox.mails).toEqual([])
})

/** Queues a mail to a server that refuses every attempt with this answer. */
async function orderInVain(turnAway: string) {
  const databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox({ turnAway })
  const gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  const { email } = await newAccount(databaseUrl)
  await api(gateway).post('/api/auth/password/forgot', { email })
  return { databaseUrl, gateway, mailbox }
}

it('drops a mail at once when the mailbox does not exist', async () => {
  const { databaseUrl, gateway, mailbox } = await orderInVain('550 5.1.1 <ada@example.com>: no such user')
  await gateway.line(/"mail":.*there is no such mailbox/)
  const jobs = `select state from pgboss.job where name = 'mail.send'`
  await until(async () => (await sql(databaseUrl).query(jobs)).rows[0]?.state === 'completed')
  expect([mailbox.refused.length, await mails(databaseUrl)]).toEqual([1, []])
  expect(gateway.logs.join('\n')).not.toContain('ada@example.com')
})

it.each(['550 relaying denied', '554 5.7.1 denied'])(
  'retries a mail that the server refuses for another reason: %s',
  async (turnAway) => {
    const { databaseUrl, mailbox } = await orderInVain(turnAway)
    await until(() => mailbox.refused.length >= 2)
    expect(await mails(databaseUrl)).toHaveLength(1)
  },
)

it('closes its connection on disposal of the mailer', async () => {
  const mailbox = await openMailbox()
  const app = await openApp(await cloneDatabase(), { SMTP_URL: mailbox.url })
  await mailer(app).send('1', { to: newEmail(), subject: 'Hello', text: 'Hello', messageId: '<1@localhost>' })
  expect(mailbox.connections()).toBe(1)
  await mailer(app)[Symbol.asyncDispose]()
  await until(() => mailbox.connections() === 0)
})

it.each<[string, string]>([
  ['stands still', ''],
  ['drips its greeting', '2'],
  ['drips an answer', '220 mail.example ESMTP\r\n250-'],
])('fails promptly and closes the connection when the server %s', measuredAgain, async (_, says) => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).resume())
    socket.write(says)
    const timer = setInterval(() => says && socket.write(' '), 20)
    socket.on('close', () => {
      clearInterval(timer)
      sockets.delete(socket)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd('test', async () => void server.close())
  const app = await openApp(await cloneDatabase(), { SMTP_URL: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}` })
  await using mailer = createMailer(app, 300)
  const began = performance.now()
  const mail = { to: newEmail(), subject: 'Hello', text: 'Hello', messageId: '<1@localhost>' }
  await expect(mailer.send('1', mail)).rejects.toThrow()
  expect(performance.now() - began).toBeLessThan(allowed(5_000))
  await until(() => sockets.size === 0)
})

it('writes mails to a folder when there is no mail server, and none of their contents to the log', async () => {
  const databaseUrl = await cloneDatabase()
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'gateway-test-mail-'))
  atEnd('test', () => rm(dataDir, { recursive: true }))
  const gateway = await openGateway({ databaseUrl, env: { DATA_DIR: dataDir } })
  const email = newEmail()
  await api(gateway).post('/api/auth/signup', { email, password, name: 'Ada' })
  const folder = path.join(dataDir, 'mail')
  const file = await until(async () => (await readdir(folder)).find((name) => name.endsWith('.txt')))
  const text = await readFile(path.join(folder, file), 'utf8')
  expect(text).toContain(`To: ${email}\nSubject: Verify your e-mail address\n\n`)
  const [, token] = text.match(/\?token=(\S+)/) as RegExpMatchArray
  expect((await api(gateway).post('/api/auth/verify-email', { token })).status).toBe(200)
  // The mail to a known address links to a page of the gateway itself.
  await api(gateway).post('/api/auth/signup', { email, password, name: 'Ada' })
  const known = await until(async () => {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.txt'))
    const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), 'utf8')))
    return texts.find((text) => text.includes('already exists'))
  })
  const [there] = known.match(/http:\S+/) as RegExpMatchArray
  const page = await fetch(there)
  expect([there, page.status, page.headers.get('content-type')]).toEqual([`${gateway.url}/`, 200, 'text/html; charset=utf-8'])
  // The log names the file but contains none of its secrets.
  const log = gateway.logs.join('\n')
  expect(log).toContain(file)
  for (const secret of [token as string, password, email]) expect(log).not.toContain(secret)
})

async function mails(databaseUrl: string): Promise<{ content: Buffer }[]> {
  return (await sql(databaseUrl).query<{ content: Buffer }>('select content from mails')).rows
}
