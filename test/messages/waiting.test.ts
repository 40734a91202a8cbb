// Messages of an instance that is not connected wait for it, but not forever; those of a deleted instance fail at once.
import { beforeAll, expect, it } from 'vitest'
import { dispatchRequest, enqueueDispatch } from '../../src/messages/dispatch/dispatch-job.ts'
import { sweepImplementation } from '../../src/messages/dispatch/sweep.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { type Account, connectedInstance, type InstanceOptions } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { atRest, expectInvariants } from '../kit/invariants.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { openScene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { bringForward, openApp, openWorkspace } from './rig.ts'

let databaseUrl: string
let account: Account
let client: Api

beforeAll(async () => {
  const scene = await openScene()
  ;({ databaseUrl, account } = scene)
  client = scene.client()
})

async function phone(options: InstanceOptions = { status: 'disconnected' }): Promise<string> {
  return (await connectedInstance(databaseUrl, account, options)).id
}

async function send(instanceId: string, count: number, more: Record<string, unknown> = {}, from = client): Promise<string[]> {
  const messages = Array.from({ length: count }, (_, i) => ({
    instanceId,
    to: `+39333400${1000 + i}`,
    type: 'text',
    text: 'hello',
    ...more,
  }))
  const { body } = await from.post('messages/bulk', { messages })
  expect(body.data.rejected).toEqual([])
  return body.data.accepted.map(({ id }: { id: string }) => id)
}

interface Row {
  id: string
  status: string
  error: string | null
  waiting: boolean
  /** From acceptance to failure. */
  failedAfterMs: number | null
}

async function rowsOf(ids: readonly string[], url = databaseUrl): Promise<Row[]> {
  const { rows } = await sql(url).query<Row>(
    `select id, status, error, "waitingSince" is not null as waiting, (extract(epoch from "failedAt" - "dueAt") * 1000)::float8 as "failedAfterMs"
     from messages where id = any($1) order by id`,
    [ids],
  )
  return rows
}

async function waiting(ids: readonly string[]): Promise<void> {
  await until(async () => (await rowsOf(ids)).every((row) => row.waiting))
}

it('keeps messages waiting for their instance, and sends them in order when it connects', async () => {
  const instanceId = await phone()
  const ids = await send(instanceId, 10, { to: '+393334002222' })
  await waiting(ids)
  const record = (await client.get(`messages/${ids[0]}`)).body.data
  expect([record.status, record.error]).toEqual(['queued', null])
  expect((await client.post(`instances/${instanceId}/connect`)).status).toBe(200)
  await until(async () => (await rowsOf(ids)).every(({ status }) => status === 'read'))
  const { rows } = await sql(databaseUrl).query(
    'select reference from sandbox_messages where "instanceId" = $1 order by "acceptedAt"',
    [instanceId],
  )
  expect(rows.map(({ reference }) => reference)).toEqual(ids)
})

it('cancels a waiting message, and gives its quota back', async () => {
  const instanceId = await phone()
  const usage = async () => (await client.get('usage')).body.data.messagesCount as number
  const before = await usage()
  const [first, second] = (await send(instanceId, 2, { to: '+393334003333' })) as [string, string]
  await waiting([first, second])
  expect(await usage()).toBe(before + 2)
  const cancelled = await client.post(`messages/${first}/cancel`)
  expect([cancelled.status, cancelled.body.data.status]).toEqual([200, 'cancelled'])
  expect(await usage()).toBe(before + 1)
  await client.post(`instances/${instanceId}/connect`)
  await until(async () => (await rowsOf([second]))[0]?.status === 'read')
  expect((await rowsOf([first]))[0]?.status).toBe('cancelled')
})

// Measured again when other load keeps this machine too busy.
it('fails messages that waited longer than their time to live, within 2 s of its end', measuredAgain, async () => {
  const ttlSeconds = 4
  const hasty = await openScene({ env: { MESSAGE_TTL_SECONDS: String(ttlSeconds) } })
  const { id: instanceId } = await connectedInstance(hasty.databaseUrl, hasty.account, { status: 'disconnected' })
  const ids = await send(instanceId, 5, {}, hasty.client())
  const rows = await until(async () => {
    const rows = await rowsOf(ids, hasty.databaseUrl)
    return rows.every(({ status }) => status === 'failed') && rows
  })
  expect(new Set(rows.map(({ error }) => error))).toEqual(new Set(['EXPIRED']))
  const after = rows.map(({ failedAfterMs }) => failedAfterMs as number)
  expect(Math.min(...after)).toBeGreaterThanOrEqual(ttlSeconds * 1000)
  expect(Math.max(...after)).toBeLessThan(ttlSeconds * 1000 + allowed(2_000))
  expect((await hasty.client().get('usage')).body.data.messagesCount).toBe(0)
  await expectInvariants(hasty.databaseUrl)
  const { rows: events } = await sql(hasty.databaseUrl).query(
    `select payload->>'error' as error from events where type = 'message.failed'`,
  )
  expect(events).toEqual(Array(5).fill({ error: 'EXPIRED' }))
})

it('has one job for the end of a wait, however often the instance connects and disconnects', async () => {
  const instanceId = await phone()
  const ids = await send(instanceId, 3)
  await waiting(ids)
  // Adds jobs as the gateway does: with a notification, without which workers look for jobs every 30 s.
  const app = await openApp(databaseUrl)
  for (let i = 0; i < 3; i++) {
    // As if the instance had connected and disconnected again before any message could leave.
    await sql(databaseUrl).query(`update messages set "waitingSince" = null where id = any($1)`, [ids])
    await enqueueDispatch(
      app,
      app.pool,
      ids.map((id) => dispatchRequest({ id, scheduledAt: null, campaignId: null })),
    )
    await waiting(ids)
  }
  const { rows } = await sql(databaseUrl).query(
    `select count(*)::int as n from pgboss.job where state < 'active' and data->>'id' = any($1)`,
    [ids],
  )
  expect(rows).toEqual([{ n: 3 }])
  await client.delete(`instances/${instanceId}`)
})

it('leaves no job for a waiting message that is cancelled', async () => {
  const instanceId = await phone()
  const ids = await send(instanceId, 2)
  await waiting(ids)
  const left = async () => (await sql(databaseUrl).query('select id from pgboss.job where id = any($1)', [ids])).rows
  expect(await left()).toHaveLength(2)
  expect((await client.post(`messages/${ids[0]}/cancel`)).status).toBe(200)
  expect(await left()).toEqual([{ id: ids[1] }])
  await client.delete(`instances/${instanceId}`)
})

it('fails waiting messages when their instance is deleted, and scheduled ones when they are due', async () => {
  const instanceId = await phone()
  const ids = await send(instanceId, 5)
  const later = await send(instanceId, 1, { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
  await waiting(ids)
  expect((await client.delete(`instances/${instanceId}`)).status).toBe(200)
  await bringForward(databaseUrl, later)
  for (const list of [ids, later]) {
    await until(async () =>
      (await rowsOf(list)).every(({ status, error }) => status === 'failed' && error === 'INSTANCE_DELETED'),
    )
  }
  await atRest(databaseUrl)
  const { rows } = await sql(databaseUrl).query(
    `select type, count(*)::int as n from events where "instanceId" = $1 and type <> 'message.queued' group by 1`,
    [instanceId],
  )
  expect(rows).toEqual([{ type: 'message.failed', n: 6 }])
  expect((await client.get(`messages/${ids[0]}`)).body.data).toMatchObject({ status: 'failed', error: 'INSTANCE_DELETED' })
})

it('finds the one message without a job among thousands without table statistics, as after a restore', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  for (const table of ['messages', 'pgboss.job_common']) {
    await sql(own).query(`alter table ${table} set (autovacuum_enabled = off)`)
  }
  await sql(own).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, "dueAt")
     select gen_random_uuid(), $1, $2, $3, 'text', '+' || i, '+' || i, 'hello', '{}', now() - interval '10 minutes' from generate_series(1, 30000) i`,
    [ctx.principal.workspaceId, ctx.principal.userId, instanceId],
  )
  await sql(own).query(
    `insert into pgboss.job (name, data) select 'message.dispatch', jsonb_build_object('id', id) from messages where peer <> '+7'`,
  )
  await sweepImplementation.run(app, [{}])
  const { rows } = await sql(own).query(
    `select peer from messages m join pgboss.job j on j.data->>'id' = m.id::text where peer = '+7'`,
  )
  expect(rows).toEqual([{ peer: '+7' }])
})

it('does not expire a message that is claimed at that very moment and is on its way', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  const { id } = await sendMessage(ctx, { instanceId, to: '+393334005555', type: 'text', text: 'hello' })
  await sql(own).query(`update messages set "dueAt" = now() - interval '2 days' where id = $1`, [id])
  const claiming = await sql(own).connect()
  await claiming.query('begin')
  await claiming.query(
    `update messages set status = 'sending', "leaseToken" = $1, "leaseUntil" = now() + interval '9 seconds' where id = $1`,
    [id],
  )
  let done = false
  const sweeping = sweepImplementation.run(app, [{}]).finally(() => {
    done = true
  })
  const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => done || (await sql(own).query(blocked)).rowCount)
  await claiming.query('commit')
  claiming.release()
  await sweeping
  const { rows } = await sql(own).query('select status, error from messages where id = $1', [id])
  expect(rows).toEqual([{ status: 'sending', error: null }])
})

it('keeps every invariant through all of that', async () => {
  await expectInvariants(databaseUrl)
})

it('creates one job at a sweep for a message that is long overdue and has no job', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  const { id } = await sendMessage(ctx, { instanceId, to: '+393334005556', type: 'text', text: 'hello' })
  const count = async () => (await sql(own).query(`select from pgboss.job where data->>'id' = $1`, [id])).rowCount
  await sql(own).query(`delete from pgboss.job where data->>'id' = $1`, [id])
  // Jobs that no process can read do not stop the sweep.
  await sql(own).query(`insert into pgboss.job (name, data) select 'message.dispatch', data::jsonb
    from unnest(array['{"ids": "x"}', '{"ids": ["x"]}', '{"id": {"x": 1}}', '{}', '[]', null]) as data`)
  await sweepImplementation.run(app, [{}])
  expect(await count()).toBe(0)
  await sql(own).query(`update messages set "dueAt" = now() - interval '3 minutes' where id = $1`, [id])
  await sweepImplementation.run(app, [{}])
  await sweepImplementation.run(app, [{}])
  expect(await count()).toBe(1)
})
