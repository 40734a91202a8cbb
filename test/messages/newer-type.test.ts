// A message of a type that only a newer process knows, while an upgrade is under way.
import { expect, it } from 'vitest'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

it('is left to a newer process: not sent, not failed, no attempt counted, and looked at again', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  await sql(own).query(`alter type message_type add value 'newer'`)
  const add = async (type: string) => {
    const { rows } = await sql(own).query<{ id: string }>(
      `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety)
       values (gen_random_uuid(), $1, $2, $3, $4::message_type, '+1' || length($4::text), '+1' || length($4::text), '', '{}') returning id`,
      [ctx.principal.workspaceId, ctx.principal.userId, instanceId, type],
    )
    return rows[0]?.id as string
  }
  const [newer, known] = [await add('newer'), await add('text')]
  const { claimed } = await claimMessages(app, [newer, known])
  expect(claimed.map(({ id }) => id)).toEqual([known])
  const { rows } = await sql(own).query('select status, attempts, "leaseToken", error from messages where id = $1', [newer])
  expect(rows).toEqual([{ status: 'queued', attempts: 0, leaseToken: null, error: null }])
  const jobs = `select start_after > now() as later from pgboss.job where name = 'message.dispatch' and data->>'id' = $1`
  expect((await sql(own).query(jobs, [newer])).rows).toEqual([{ later: true }])
  // A process that knows the type sends it.
  await sql(own).query(`update messages set type = 'text' where id = $1`, [newer])
  expect((await claimMessages(app, [newer])).claimed).toMatchObject([{ id: newer, attempt: 1 }])
})
