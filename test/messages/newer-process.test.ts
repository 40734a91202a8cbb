// A message of a type or a network that only a newer process knows, while an upgrade is under way.
import { expect, it } from 'vitest'
import { claimHeld, claimMessages } from '../../src/messages/dispatch/claim.ts'
import { instanceKey } from '../../src/messages/dispatch/hold-key.ts'
import { readHeld } from '../../src/messages/dispatch/holds.sql.ts'
import { receiveMessages } from '../../src/messages/receipts/inbound.ts'
import { readImplementation } from '../../src/messages/receipts/mark-read.ts'
import { fetchImplementation } from '../../src/messages/receipts/media.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { providers } from '../../src/providers/providers.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

it('of a type is left to a newer process: not sent, not failed, no attempt counted, and looked at again', async () => {
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

it('of a network is left to a newer process, whether it has been attempted or not: held until one looks at it', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  const send = async (to: string) => (await sendMessage(ctx, { instanceId, to, type: 'text', text: 'hello' })).id
  const attempted = await send('+393337001021')
  await claimMessages(app, [attempted])
  await sql(own).query(`update messages set "leaseUntil" = now() - interval '1 second' where id = $1`, [attempted])
  const fresh = await send('+393337001022')
  const known = providers(app)
  providers.replace(app, new Map())
  expect((await claimMessages(app, [attempted, fresh])).claimed).toEqual([])
  const { rows } = await sql(own).query('select status, attempts, error from messages where id = any($1) order by id', [
    [attempted, fresh],
  ])
  expect(rows).toEqual([
    { status: 'sending', attempts: 1, error: null },
    { status: 'queued', attempts: 0, error: null },
  ])
  const checks = `select from pgboss.job where name = 'message.hold' and data->>'key' = $1 and state < 'active'`
  expect((await sql(own).query(checks, [instanceKey(instanceId)])).rowCount).toBe(1)
  // A process that knows the network sends them.
  providers.replace(app, known)
  const held = await readHeld(app.pool, instanceKey(instanceId), 10)
  expect(held).toEqual([attempted, fresh])
  expect((await claimHeld(app, held)).claimed).toMatchObject([
    { id: attempted, attempt: 2 },
    { id: fresh, attempt: 1 },
  ])
})

it('of a network leaves its file and its read mark to a newer process', async () => {
  const own = await cloneDatabase()
  const { app, instanceId } = await openWorkspace(own)
  const media = { reference: 'file', mimeType: null, fileName: null }
  const image = { type: 'image', body: '', content: { kind: 'image' }, media } as const
  await receiveMessages(app, [{ instanceId, providerMessageId: 'in', from: '+393337001021', at: new Date(), ...image }])
  const { rows } = await sql(own).query<{ id: string }>('select id from messages')
  providers.replace(app, new Map())
  expect(await fetchImplementation.run(app, rows)).toEqual([expect.any(Error)])
  expect(await readImplementation.run(app, rows)).toEqual([expect.any(Error)])
  const awaited = `select content ? 'media' as awaited from messages`
  expect((await sql(own).query(awaited)).rows).toEqual([{ awaited: true }])
})
