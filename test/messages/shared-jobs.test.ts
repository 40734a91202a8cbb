// Messages that become due together share jobs, and yet each ends by itself. Single messages leave before those of large bulks.
import { beforeAll, expect, it } from 'vitest'
import { sweepImplementation } from '../../src/messages/dispatch/sweep.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { openApp } from './rig.ts'

const cursed = '+393330007777'
let scene: Scene

beforeAll(async () => {
  // Without workers, so that the jobs can be seen before they run.
  scene = await openScene({ env: { ROLES: 'http' } })
  await sql(scene.databaseUrl).query(`
    create function curse() returns trigger language plpgsql as $$ begin raise exception 'cursed'; end $$;
    create trigger curse before update on messages for each row when (new."to" = '${cursed}') execute function curse()`)
})

const jobs = async () => {
  const text = `select data, state from pgboss.job where name = 'message.dispatch' and state < 'completed' order by jsonb_array_length(data->'ids') desc`
  return (await sql(scene.databaseUrl).query<{ data: { id?: string; ids?: string[] }; state: string }>(text)).rows
}

it('a message that cannot be claimed holds up no other message of its job, and leaves once it can', async () => {
  const to = Array.from({ length: 20 }, (_, i) => (i === 5 ? cursed : `+3933300${String(i).padStart(2, '0')}5555`))
  const messages = to.map((number) => ({ instanceId: scene.phone.id, to: number, type: 'text', text: 'hello' }))
  const { accepted } = (await scene.client().post('messages/bulk', { messages })).body.data
  const ids: string[] = accepted.map(({ id }: { id: string }) => id)
  expect((await jobs()).map(({ data }) => data.ids?.length)).toEqual([10, 10])
  await openGateway({ databaseUrl: scene.databaseUrl, env: { ROLES: 'worker,relay', LOG_LEVEL: 'fatal' } })
  const left = async () => {
    const text = `select "to" from messages where id = any($1) and "acceptedAt" is null`
    return (await sql(scene.databaseUrl).query<{ to: string }>(text, [ids])).rows.map((row) => row.to)
  }
  await until(async () => (await left()).length === 1)
  expect(await left()).toEqual([cursed])
  const [job] = await until(async () => {
    const open = await jobs()
    return open.length === 1 ? open : undefined
  })
  expect(job?.data.ids).toContain(ids[5])
  await sql(scene.databaseUrl).query('drop trigger curse on messages')
  await until(async () => (await left()).length === 0)
  await expectInvariants(scene.databaseUrl, { acknowledged: ids, messages: 20 })
})

it('a message that becomes due alone has a job alone', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString()
  const body = { instanceId: scene.phone.id, to: '+393330995555', type: 'text', text: 'hello', scheduledAt: at }
  const { id } = (await scene.client().post('messages/schedule', body)).body.data
  expect(await jobs()).toEqual([{ data: { id }, state: 'created' }])
})

it('messages of a shared job get another job only when that one is lost', async () => {
  const app = await openApp(scene.databaseUrl)
  const messages = Array.from({ length: 10 }, (_, i) => ({
    instanceId: scene.phone.id,
    to: `+393330088${i}5555`,
    type: 'text',
    text: 'hello',
  }))
  const { accepted } = (await scene.client().post('messages/bulk', { messages })).body.data
  const ids: string[] = accepted.map(({ id }: { id: string }) => id)
  await sql(scene.databaseUrl).query(`update messages set "dueAt" = now() - interval '3 minutes' where id = any($1)`, [ids])
  const shared = async () => (await jobs()).flatMap(({ data }) => (data.ids ? [data.ids.toSorted()] : []))
  await sweepImplementation.run(app, [{}])
  expect(await shared()).toEqual([ids.toSorted()])
  await sql(scene.databaseUrl).query(`delete from pgboss.job where data->'ids' ?| $1`, [ids])
  await sweepImplementation.run(app, [{}])
  expect(await shared()).toEqual([ids.toSorted()])
})

it('a single message leaves before those of large bulks that were accepted earlier, and an instant one before a scheduled one', async () => {
  const app = await openApp(scene.databaseUrl)
  await app.boss.deleteAllJobs('message.dispatch')
  const client = scene.client()
  const of = (to: string) => ({ instanceId: scene.phone.id, to, type: 'text', text: 'hello' })
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const bulk = async (n: number, first: number, fields: object = {}) => {
    const messages = Array.from({ length: n }, (_, i) => ({ ...of(`+39333010${first + i}5555`), ...fields }))
    const { accepted } = (await client.post('messages/bulk', { messages })).body.data
    return accepted.map(({ id }: { id: string }) => id) as string[]
  }
  const largeLater = await bulk(11, 10, { scheduledAt })
  const large = await bulk(11, 30)
  const later = (await client.post('messages/schedule', { ...of('+393330991111'), scheduledAt })).body.data.id
  const small = await bulk(2, 50)
  const single = (await client.post('messages/send', of('+393330992222'))).body.data.id
  await sql(scene.databaseUrl).query(
    `update pgboss.job set start_after = now() where name = 'message.dispatch' and state = 'created'`,
  )
  const fetched: string[] = []
  await until(async () => {
    for (const { data } of await app.boss.fetch<{ id?: string; ids?: string[] }>('message.dispatch'))
      fetched.push(...(data.ids ?? [data.id as string]))
    return fetched.length === 26
  })
  expect(fetched.slice(0, 4)).toEqual([...small, single, later])
  expect(fetched.slice(4, 15).toSorted()).toEqual(large)
  expect(fetched.slice(15).toSorted()).toEqual(largeLater)
})

it('a single message leaves before many that had waited for their instance when it connected', async () => {
  const app = await openApp(scene.databaseUrl)
  const client = scene.client()
  const away = await connectedInstance(scene.databaseUrl, scene.account, { status: 'disconnected' })
  const messages = Array.from({ length: 11 }, (_, i) => ({
    instanceId: away.id,
    to: `+39333020${10 + i}5555`,
    type: 'text',
    text: 'hello',
  }))
  await client.post('messages/bulk', { messages })
  await sql(scene.databaseUrl).query('update messages set "waitingSince" = now() where "instanceId" = $1', [away.id])
  await app.boss.deleteAllJobs('message.dispatch')
  expect((await client.post(`instances/${away.id}/connect`)).status).toBe(200)
  const of = { instanceId: scene.phone.id, to: '+393330991111', type: 'text', text: 'hello' }
  const { id } = (await client.post('messages/send', of)).body.data
  const fetched = [await app.boss.fetch('message.dispatch'), await app.boss.fetch('message.dispatch')].flat()
  expect(fetched).toMatchObject([{ data: { id } }, { data: { ids: expect.any(Array) } }])
})
