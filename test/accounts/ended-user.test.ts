// An ended account: its row stays while messages in teams of others refer to it, no session begins while it ends, and mails do not open it.
import { expect, it } from 'vitest'
import { endUser } from '../../src/accounts/end-user.ts'
import { listAccounts, setPassword } from '../../src/accounts/service.ts'
import { boundSessions } from '../../src/accounts/sign-in/sessions.sql.ts'
import { lockUser } from '../../src/accounts/users.sql.ts'
import { transaction } from '../../src/core/database/transaction.ts'
import { deleteUser } from '../../src/erase-account.sql.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { openMailbox } from './mailbox.ts'
import { logIn, newPerson, password } from './person.ts'

/** Inserts a message of the user in the workspace of a stranger, which keeps the row of the user. */
async function leaveMessage(databaseUrl: string, userId: string): Promise<void> {
  const owner = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, owner)
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety)
     values (gen_random_uuid(), $1, $2, $3, 'text', '+1', '+1', 'hello', '{}')`,
    [owner.workspaceId, userId, instanceId],
  )
}

it('its row stays without an error while a message refers to it, and is deleted after that', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const userId = '01980000-0000-7000-8000-0000000000aa'
  await pool.query(
    `insert into users (id, email, name, "endedAt", "updatedAt") values ($1::uuid, 'gone@deleted.invalid', 'Deleted account', now(), now())`,
    [userId],
  )
  await leaveMessage(databaseUrl, userId)
  const rows = async () => (await pool.query('select from users where id = $1', [userId])).rowCount
  await deleteUser(pool, userId)
  expect(await rows()).toBe(1)
  await pool.query('delete from messages where "userId" = $1', [userId])
  await deleteUser(pool, userId)
  expect(await rows()).toBe(0)
})

it('its row stays without an error if the search for messages that refer to it takes longer than a statement may', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const { userId } = await createAccount(databaseUrl)
  await pool.query('update users set "endedAt" = now() where id = $1', [userId])
  await pool.query(
    `create function too_long() returns trigger language plpgsql as $$
       begin raise 'canceling statement due to statement timeout' using errcode = 'query_canceled'; end $$;
     create trigger too_long before delete on users for each row execute function too_long()`,
  )
  await deleteUser(pool, userId)
  expect((await pool.query('select from users where id = $1', [userId])).rowCount).toBe(1)
})

it('a session that begins while it ends does not stay', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const { userId } = await createAccount(databaseUrl)
  const { begun } = await transaction(prisma(databaseUrl), async (tx) => {
    await lockUser(tx, userId)
    await endUser(tx, userId)
    // As the hook of sign-in does. The insert waits for the row of the user, and would stay after the commit.
    const insert = `insert into auth_sessions (id, token, "userId", "expiresAt") values (gen_random_uuid(), 'new', $1, now() + interval '1 day')`
    const begun = pool.query(insert, [userId]).then(() => boundSessions(pool, userId, 1_000))
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => (await pool.query(waiting)).rowCount === 1)
    return { begun }
  })
  await begun
  expect((await pool.query('select from auth_sessions')).rowCount).toBe(0)
})

it('gets no password by a mail that was requested before it ended', async () => {
  const databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox()
  const gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  const client = api(gateway)
  const person = await newPerson(gateway, databaseUrl)
  await leaveMessage(databaseUrl, person.userId)
  expect((await client.post('/api/auth/password/forgot', { email: person.email })).status).toBe(202)
  const token = await mailbox.token(person.email)
  expect((await person.api.delete('/api/me', { password })).status).toBe(200)
  expectRefusal(await client.post('/api/auth/password/reset', { token, password }), 400, 'INVALID_TOKEN')
  expectRefusal(await logIn(gateway, `${person.userId}@deleted.invalid`), 401, 'INVALID_CREDENTIALS')
})

it('keeps no name and no password that somebody signs up with by the address of its row', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const gateway = await openGateway({ databaseUrl })
  const person = await newPerson(gateway, databaseUrl)
  await leaveMessage(databaseUrl, person.userId)
  expect((await person.api.delete('/api/me', { password })).status).toBe(200)
  const email = `${person.userId}@deleted.invalid`
  const answer = await api(gateway).post('/api/auth/signup', { email, password, name: 'Grace' })
  expectRefusal(answer, 503, 'SERVICE_UNAVAILABLE')
  expectRefusal(await logIn(gateway, email), 401, 'INVALID_CREDENTIALS')
  expect((await pool.query('select name from users where id = $1', [person.userId])).rows).toEqual([{ name: 'Deleted account' }])
})

it('is not listed, and its row gets no password from the operator', async () => {
  const databaseUrl = await cloneDatabase()
  const db = prisma(databaseUrl)
  const [{ userId }, { userId: other }] = [await createAccount(databaseUrl), await createAccount(databaseUrl)]
  await transaction(db, (tx) => endUser(tx, userId))
  expect((await listAccounts(db)).map((account) => account.userId)).toEqual([other])
  await expect(setPassword(db, { email: `${userId}@deleted.invalid`, password })).rejects.toThrow(
    /^No account has the e-mail address/,
  )
  expect((await sql(databaseUrl).query('select from auth_accounts where "userId" = $1', [userId])).rowCount).toBe(0)
})
