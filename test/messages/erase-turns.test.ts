// Very many messages of one number, and very many numbers of one account, delay the erasures of others by a turn.
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { eraseImplementation, eraseNumber } from '../../src/messages/erase/erase.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

it('the jobs of all workspaces of a payer are of one group, and one with very many messages goes behind the others', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const pool = sql(databaseUrl)
  const phone = '+4915112350007'
  await pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", direction, type, "from", "to", peer, body, content, status, safety, "updatedAt")
     select gen_random_uuid(), $1, $2, $3, 'inbound', 'text', $4, '', $4, 'hello', '{}', 'received', '{}', now() from generate_series(1, 5001)`,
    [ctx.principal.workspaceId, ctx.principal.userId, instanceId, phone],
  )
  await sqlTransaction(app.pool, (tx) => eraseNumber(app, tx, ctx.principal, phone))
  const jobs = async () => {
    const { rows } = await pool.query<{ data: object; group: string }>(
      `select data, group_id as group from pgboss.job where name = 'messages.erase' order by created_on`,
    )
    return rows
  }
  const left = async () => (await pool.query('select from messages where peer = $1', [phone])).rowCount
  const [first] = await jobs()
  expect(first?.group).toBe(ctx.principal.ownerId)

  expect(await eraseImplementation.run(app, [first?.data as object])).toEqual([undefined])
  expect(await left()).toBe(1)
  expect(await jobs()).toEqual([first, first])

  expect(await eraseImplementation.run(app, [first?.data as object])).toEqual([undefined])
  expect(await left()).toBe(0)
  expect(await jobs()).toHaveLength(2)
})
