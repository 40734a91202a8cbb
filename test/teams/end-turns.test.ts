// The very much data of an account that ended lets no other ended account wait.
import { expect, it } from 'vitest'
import { eraseAccountImplementation } from '../../src/erase-account.ts'
import { endAccount } from '../../src/teams/end-account.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'

it('erases an account in turns, each of which goes on where the one before ended', async () => {
  const databaseUrl = await cloneDatabase()
  const { userId, workspaceId } = await createAccount(databaseUrl)
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  await pool.query(
    `insert into suppressions (id, "workspaceId", phone, reason)
     select gen_random_uuid(), $1, '+39' || (3000000000 + i), 'manual' from generate_series(1, 21000) i`,
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
  expect(turns).toEqual([{ userId }, { userId, emptied: { workspaceId, seq: '3001' } }])
  expect((await pool.query('select from users where id = $1', [userId])).rowCount).toBe(0)
  expect((await pool.query(`select from events where payload::text <> '{}'`)).rowCount).toBe(0)
})
