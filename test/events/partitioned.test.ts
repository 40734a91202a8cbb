// The migration to partitions keeps every event, lets the gateway of the version before go on, and is resumed after each of its steps.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { databaseBefore } from '../kit/old-database.ts'
import { until } from '../kit/until.ts'
import { emitMany, newPlace, openApp, openRelay, upTo, wholeLog } from './rig.ts'

let url: string
let scripts: string[]
beforeEach(async () => {
  ;({ url, scripts } = await databaseBefore('events_upper'))
})

/** An endpoint and a delivery of each event, with which the foreign key of the version before is met. */
async function deliverAll(): Promise<void> {
  await sql(url).query(`
    with u as (insert into users (id, email, name) values (gen_random_uuid(), 'a@example.com', 'A') returning id),
      w as (insert into workspaces (id, "ownerId") select gen_random_uuid(), id from u returning id),
      e as (insert into webhook_endpoints (id, "workspaceId", url, events, secret) select gen_random_uuid(), id, 'https://a.example', '{}', '' from w returning id)
    insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type) select gen_random_uuid(), e.id, seq, events.id, type from events, e`)
}

it('keeps the log and its deliveries, and the next events follow', async () => {
  await sql(url).query('update event_sequence set last = 123456789')
  const app = await openApp(url)
  const place = newPlace()
  {
    await using _ = await openRelay(app)
    await emitMany(app.pool, place, 20)
    await until(async () => (await wholeLog(url)).length === 20)
  }
  await deliverAll()
  const before = await wholeLog(url)
  for (const script of scripts) await sql(url).query(script)
  expect(await wholeLog(url)).toEqual(before)
  const { rows } = await sql(url).query(
    `select pg_get_expr(relpartbound, oid) as bound, (select count(*)::int from webhook_deliveries) as deliveries,
       (select count(*)::int from pg_constraint where conrelid = 'events_from_0'::regclass and contype = 'c') as checks,
       (select array_agg(indexname::text order by indexname) from pg_indexes where tablename = 'events_from_0') as indexes
     from pg_class where relname = 'events_from_0'`,
  )
  expect(rows).toEqual([
    {
      bound: "FOR VALUES FROM (MINVALUE) TO ('133000000')",
      deliveries: 20,
      checks: 0,
      indexes: ['events_from_0_messageId_idx', 'events_from_0_pkey', 'events_from_0_workspaceId_seq_idx'],
    },
  ])
  await emitMany(app.pool, place, 5, 20)
  await openRelay(app)
  await until(async () => (await wholeLog(url)).length === 25)
  expect((await wholeLog(url)).map(({ n }) => n)).toEqual(upTo(25))
})

it('goes on under load: events are numbered without a gap while each step runs', async () => {
  const app = await openApp(url)
  const place = newPlace()
  await openRelay(app)
  let [sent, over] = [0, false]
  const load = (async () => {
    for (; !over; sent += 5) {
      await emitMany(app.pool, place, 5, sent)
      app.signals.emit('outbox')
      await pause(2)
    }
  })()
  const grown = async (n: number) => await until(async () => (await wholeLog(url)).length >= n)
  for (const script of scripts) {
    await grown((await wholeLog(url)).length + 50)
    await sql(url).query(script)
  }
  await grown((await wholeLog(url)).length + 50)
  over = true
  await load
  await grown(sent)
  expect((await wholeLog(url)).map(({ seq, n }) => [seq, n])).toEqual(upTo(sent).map((n) => [n + 1, n]))
})

it('waits for a long transaction without stopping the others', async () => {
  const reader = await sql(url).connect()
  await reader.query('begin; select count(*) from events')
  let over = false
  const all = (async () => {
    for (const script of scripts) await sql(url).query(script)
    over = true
  })()
  await until(
    async () => (await sql(url).query(`select from pg_locks where relation = 'events'::regclass and not granted`)).rowCount,
  )
  for (let reads = 0; reads < 3; reads++) await sql(url).query('select count(*) from events')
  expect(over).toBe(false)
  await reader.query('commit')
  reader.release()
  await all
  expect((await sql(url).query(`select relkind from pg_class where oid = 'events'::regclass`)).rows).toEqual([{ relkind: 'p' }])
})
