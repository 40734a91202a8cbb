// The event log is a table of partitions by number. The relay adds them ahead of need, and readers notice nothing.
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { readAfter } from '../../src/events/log/log.sql.ts'
import { cloneDatabase } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { emitMany, newPlace, numberOf, openApp, openRelay, type Place, upTo, wholeLog } from './rig.ts'

let databaseUrl: string
let app: App
let place: Place
beforeEach(async () => {
  databaseUrl = await cloneDatabase()
  app = await openApp(databaseUrl)
  place = newPlace()
})

/** Continues the log after the number `last`, as if so many events had been there. */
async function continueAfter(last: number): Promise<void> {
  await app.pool.query('update event_sequence set last = $1', [last])
}

async function partitions(): Promise<string[]> {
  const { rows } = await app.pool.query<{ name: string }>(
    `select inhrelid::regclass::text || ' ' || pg_get_expr(relpartbound, oid) as name from pg_inherits join pg_class on oid = inhrelid
     where inhparent = 'events'::regclass order by oid`,
  )
  return rows.map(({ name }) => name)
}

const first = "events_from_0 FOR VALUES FROM (MINVALUE) TO ('10000000')"
const second = "events_from_10000000 FOR VALUES FROM ('10000000') TO ('11000000')"

describe('the relay', () => {
  it('adds a partition when a million numbers are left', async () => {
    await continueAfter(8_999_990)
    await emitMany(app.pool, place, 9)
    await openRelay(app)
    await until(async () => (await wholeLog(databaseUrl)).length === 9)
    expect(await partitions()).toEqual([first])
    await emitMany(app.pool, place, 1, 9)
    app.signals.emit('outbox')
    await until(async () => (await partitions()).length === 2)
    expect(await partitions()).toEqual([first, second])
  })

  it('numbers across the end of a partition without a gap, and a reader resumes across it', async () => {
    await continueAfter(9_999_989)
    await emitMany(app.pool, place, 30)
    await openRelay(app)
    await until(async () => (await wholeLog(databaseUrl)).length === 30)
    expect((await wholeLog(databaseUrl)).map(({ seq }) => seq - 9_999_990)).toEqual(upTo(30))
    const { rows } = await app.pool.query(
      'select tableoid::regclass::text as in, count(*)::int as n from events group by 1 order by 1',
    )
    expect(rows).toEqual([
      { in: 'events_from_0', n: 10 },
      { in: 'events_from_10000000', n: 20 },
    ])
    const { events: page } = await readAfter(app.pool, place.workspaceId, {}, { after: 9_999_994n, limit: 10 })
    expect(page.map(({ payload }) => numberOf(payload))).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
    const { events: back } = await readAfter(app.pool, place.workspaceId, {}, { after: 0n, order: 'desc', limit: 25 })
    expect(back.map(({ payload }) => numberOf(payload))).toEqual(upTo(30).reverse().slice(0, 25))
  })

  it('goes on with the numbers it has while maintenance of the table keeps it from adding one', async () => {
    await continueAfter(9_500_000)
    const maintenance = await app.pool.connect()
    await maintenance.query('begin; lock table events in share update exclusive mode')
    const error = vi.spyOn(app.log, 'error')
    await emitMany(app.pool, place, 3)
    const relay = await openRelay(app)
    await until(async () => (await wholeLog(databaseUrl)).length === 3)
    expect(error.mock.calls.map(([, text]) => text)).toEqual(['no partition was added to the event log; trying again'])
    expect(await partitions()).toEqual([first])
    await relay[Symbol.asyncDispose]()
    await maintenance.query('rollback')
    maintenance.release()
    await openRelay(app)
    await until(async () => (await partitions()).length === 2)
  })
})
