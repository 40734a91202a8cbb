// Connecting an instance while thousands of messages wait for it.
import { expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { connectInstance } from '../../src/instances/service.ts'
import { releaseImplementation } from '../../src/messages/dispatch/waiting.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { slow } from '../kit/fault.ts'
import { openWorkspace } from './rig.ts'

/** Disconnects the instance, and adds so many messages that wait for it, to `+1` and on. */
async function addWaiting(own: string, { principal }: Context, instanceId: string, count: number): Promise<void> {
  await sql(own).query(`update instances set status = 'disconnected' where id = $1`, [instanceId])
  await sql(own).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, "waitingSince", "dueAt")
     select gen_random_uuid(), $1, $2, $3, 'text', '+' || i, '+' || i, 'hello', '{}', now(), now() + i * interval '1 millisecond'
     from generate_series(1, $4::int) i`,
    [principal.workspaceId, principal.userId, instanceId, count],
  )
}

it('releases thousands of messages, in chunks that fit within the statement timeout', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  await addWaiting(own, ctx, instanceId, 5_500)
  // One statement for all of them would take longer than the statement timeout.
  await slow(own, 'update', 'messages', 2)
  expect((await connectInstance(ctx, instanceId, null)).status).toBe('connected')
  const waits = async () => (await sql(own).query('select from messages where "waitingSince" is not null')).rowCount
  const next = `delete from pgboss.job where name = 'message.release' and state = 'created' returning data`
  while (await waits()) {
    const { rows } = await sql(own).query<{ data: object }>(next)
    expect(rows).toEqual([{ data: { instanceId } }])
    await releaseImplementation.run(app, [rows[0]?.data as object])
  }
  const jobs = `select sum(jsonb_array_length(data->'ids'))::int as n from pgboss.job where name = 'message.dispatch' and state = 'created'`
  expect((await sql(own).query(jobs)).rows).toEqual([{ n: 5_500 }])
})

/** Connects the instance while another transaction has run this statement, which then reads the instance as a claim does, and commits. */
async function connectAmid(own: string, ctx: Context, instanceId: string, statement: string): Promise<void> {
  const other = await sql(own).connect()
  try {
    await other.query('begin')
    await other.query(statement)
    expect((await connectInstance(ctx, instanceId, null)).status).toBe('connected')
    await other.query('select from instances where id = $1 for share', [instanceId])
    await other.query('commit')
  } finally {
    other.release()
  }
}

async function runNext(own: string, app: App, instanceId: string): Promise<void> {
  const { rows } = await sql(own).query<{ data: object }>(`select data from pgboss.job where name = 'message.release'`)
  expect(rows).toEqual([{ data: { instanceId } }])
  await releaseImplementation.run(app, [rows[0]?.data as object])
}

const stillWaiting = 'select peer from messages where "waitingSince" is not null'

it('releases all waiting messages even if one of the first is cancelled at that very moment', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  await addWaiting(own, ctx, instanceId, 2_001)
  await connectAmid(own, ctx, instanceId, `update messages set status = 'cancelled', "waitingSince" = null where peer = '+1'`)
  await runNext(own, app, instanceId)
  expect((await sql(own).query(stillWaiting)).rows).toEqual([])
})

it('connects at once while a message that waits for the instance is being claimed, and releases that one too', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  await addWaiting(own, ctx, instanceId, 2)
  await connectAmid(own, ctx, instanceId, `select from messages where peer = '+1' for update`)
  expect((await sql(own).query(stillWaiting)).rows).toEqual([{ peer: '+1' }])
  await runNext(own, app, instanceId)
  expect((await sql(own).query(stillWaiting)).rows).toEqual([])
})

it('looks again a second later, and not at once, while another transaction has all messages of a chunk', async () => {
  const own = await cloneDatabase()
  const { ctx, instanceId } = await openWorkspace(own)
  await addWaiting(own, ctx, instanceId, 2_000)
  await connectAmid(own, ctx, instanceId, `select from messages where "waitingSince" is not null for update`)
  const next = `select extract(epoch from start_after - created_on)::float8 >= 0.5 as later from pgboss.job where name = 'message.release'`
  expect((await sql(own).query(next)).rows).toEqual([{ later: true }])
})
