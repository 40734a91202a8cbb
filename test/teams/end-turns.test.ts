// The job that erases an account: much data delays no other account, changes in progress leave no data, devices are removed first, and files
// that cannot be removed keep nothing else.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { eraseAccountImplementation } from '../../src/erase-account.ts'
import { closeImplementation } from '../../src/instances/close.ts'
import { endRemoval } from '../../src/providers/web/sessions.sql.ts'
import { endAccount } from '../../src/teams/end-account.ts'
import { createTeam } from '../../src/teams/service.ts'
import { createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { dataFolder } from '../promises/demo.ts'

it('erases an account in turns, each of which goes on where the one before ended', async () => {
  const databaseUrl = await cloneDatabase()
  const { userId, workspaceId } = await createAccount(databaseUrl)
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  await pool.query(
    `insert into suppressions (id, "workspaceId", phone, reason)
     select gen_random_uuid(), $1, '+39' || (3000000000 + i), 'manual' from generate_series(1, 18000) i`,
    [workspaceId],
  )
  await pool.query(
    `insert into events (seq, id, "workspaceId", type, payload, "createdAt")
     select i, gen_random_uuid(), $1, 'message.sent', '{"to":"+39"}', now() from generate_series(1, 3001) i`,
    [workspaceId],
  )
  await endAccount(app, userId)
  const turns: object[] = []
  for (;;) {
    const { rows } = await pool.query<{ data: object }>(
      `select data from pgboss.job where name = 'accounts.ended' order by created_on offset $1`,
      [turns.length],
    )
    if (!rows[0]) break
    turns.push(rows[0].data)
    expect(await eraseAccountImplementation.run(app, [rows[0].data])).toEqual([undefined])
    expect(rows).toHaveLength(1)
  }
  expect(turns).toEqual([{ userId }, { userId, emptiedTo: { [workspaceId]: '2000' } }])
  expect((await pool.query('select from users where id = $1', [userId])).rowCount).toBe(0)
  expect((await pool.query(`select from events where payload::text <> '{}'`)).rowCount).toBe(0)
})

it('erases the events of a change that commits while the account is erased, whether they have a number or not', async () => {
  const databaseUrl = await cloneDatabase()
  const { userId, workspaceId } = await createAccount(databaseUrl)
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  await pool.query(
    `insert into suppressions (id, "workspaceId", phone, reason) values (gen_random_uuid(), $1, '+39', 'manual')`,
    [workspaceId],
  )
  await endAccount(app, userId)
  const holder = await pool.connect()
  atEnd('test', async () => holder.release(true))
  await holder.query('begin')
  await holder.query('select from suppressions where "workspaceId" = $1 for update', [workspaceId])
  const erased = eraseAccountImplementation.run(app, [{ userId }])
  const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from suppressions%'`
  await until(async () => (await pool.query(blocked)).rowCount === 1)
  // A receipt was stored. The relay has numbered one of its events, and counted it.
  const late = `gen_random_uuid(), $1, 'message.delivered', '{"to":"+39"}'`
  await pool.query(`insert into outbox (id, "workspaceId", type, payload) values (${late})`, [workspaceId])
  await pool.query(`insert into events (seq, id, "workspaceId", type, payload, "createdAt") values (1, ${late}, now())`, [
    workspaceId,
  ])
  await pool.query(`insert into message_days ("workspaceId", "instanceId", day) values ($1, gen_random_uuid(), now())`, [
    workspaceId,
  ])
  await holder.query('commit')
  expect(await erased).toEqual([undefined])
  const left = async (rows: string) => (await pool.query(`select from ${rows} and "workspaceId" = $1`, [workspaceId])).rowCount
  expect(await left(`events where payload::text <> '{}'`)).toBe(0)
  expect(await left('outbox where true')).toBe(0)
  expect(await left('message_days where true')).toBe(0)
  expect((await pool.query('select from users where id = $1', [userId])).rowCount).toBe(0)
})

it('keeps the login of a device until it is removed from its account on the network, and erases everything else', async () => {
  const databaseUrl = await cloneDatabase()
  const { userId, workspaceId } = await createAccount(databaseUrl)
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  const login = Buffer.from('sealed')
  const { rows } = await pool.query<{ id: string }>(
    `insert into instances (id, "workspaceId", "userId", name, provider, status, settings)
     values (gen_random_uuid(), $1, $2, 'Phone', 'web', 'connected', '{}') returning id`,
    [workspaceId, userId],
  )
  const id = rows[0]?.id as string
  await pool.query('insert into web_sessions ("instanceId") values ($1)', [id])
  await pool.query('insert into web_creds ("instanceId", data) values ($1, $2)', [id, login])
  await pool.query(
    `insert into templates (id, "workspaceId", name, type, body, "updatedAt") values (gen_random_uuid(), $1, 'T', 'text', 'x', now())`,
    [workspaceId],
  )
  await endAccount(app, userId)
  expect(await closeImplementation.run(app, [{ workspaceId }])).toEqual([undefined])
  expect(await eraseAccountImplementation.run(app, [{ userId }])).toEqual([
    new Error('devices of the account are being removed from their network'),
  ])
  expect((await pool.query('select removal from web_sessions')).rows).toEqual([{ removal: login }])
  expect((await pool.query('select from templates')).rowCount).toBe(0)
  await endRemoval(app.pool, id, login)
  expect(await eraseAccountImplementation.run(app, [{ userId }])).toEqual([undefined])
  expect((await pool.query('select from users where id = $1', [userId])).rowCount).toBe(0)
})

it('erases everything but a file that cannot be removed, also what its teams have, and that file once it can be', async () => {
  const databaseUrl = await cloneDatabase()
  const ownerEmail = `${randomUUID()}@example.com`
  const { userId, workspaceId } = await createAccount(databaseUrl, { email: ownerEmail })
  const team = await createTeam(prisma(databaseUrl), { ownerEmail, name: 'Support' })
  const app = await openApp(databaseUrl, { DATA_DIR: await dataFolder() })
  const pool = sql(databaseUrl)
  const { rows } = await pool.query<{ id: string }>(
    `insert into media (id, "workspaceId", token, "mimeType", size, "storedAt")
     select gen_random_uuid(), $1, 'token ' || n, 'text/plain', 1, now() from generate_series(1, 3) n returning id`,
    [workspaceId],
  )
  const places = rows.map(({ id }) => path.join(app.config.dataDir, 'media', id))
  const [stuck = '', ...others] = places.toSorted()
  mkdirSync(stuck, { recursive: true })
  for (const place of others) writeFileSync(place, 'x')
  await pool.query(
    `insert into suppressions (id, "workspaceId", phone, reason)
     select gen_random_uuid(), workspace, '+39', 'manual' from unnest($1::uuid[]) workspace`,
    [[workspaceId, team.workspaceId]],
  )
  await endAccount(app, userId)
  await expect(eraseAccountImplementation.run(app, [{ userId }])).rejects.toThrow(stuck)
  expect((await pool.query('select from suppressions')).rowCount).toBe(0)
  expect((await pool.query('select id from workspaces')).rows).toEqual([{ id: workspaceId }])
  expect(readdirSync(path.dirname(stuck))).toEqual([path.basename(stuck)])
  rmdirSync(stuck)
  expect(await eraseAccountImplementation.run(app, [{ userId }])).toEqual([undefined])
  expect((await pool.query('select from users where id = $1', [userId])).rowCount).toBe(0)
})
