// The row of an ended account: it stays while messages in teams of others refer to it, and goes otherwise.
import { expect, it } from 'vitest'
import { deleteUser } from '../../src/erase-account.sql.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'

it('stays without an error while a message refers to it, and is deleted after that', async () => {
  const databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  const owner = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, owner)
  const userId = '01980000-0000-7000-8000-0000000000aa'
  await pool.query(
    `insert into users (id, email, name, "endedAt", "updatedAt") values ($1::uuid, 'gone@deleted.invalid', 'Deleted account', now(), now())`,
    [userId],
  )
  await pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety)
     values (gen_random_uuid(), $1, $2, $3, 'text', '+1', '+1', 'hello', '{}')`,
    [owner.workspaceId, userId, instanceId],
  )
  const rows = async () => (await pool.query('select from users where id = $1', [userId])).rowCount
  await deleteUser(pool, userId)
  expect(await rows()).toBe(1)
  await pool.query('delete from messages where "userId" = $1', [userId])
  await deleteUser(pool, userId)
  expect(await rows()).toBe(0)
})
