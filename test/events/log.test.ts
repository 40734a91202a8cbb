// The log keeps events for 30 days, and one or two more.
import { beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { addPartition } from '../../src/events/log/partitions.sql.ts'
import { pruneEvents } from '../../src/events/log/prune.ts'
import { cloneDatabase } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { emitMany, newPlace, openApp, openRelay, wholeLog } from './rig.ts'

let databaseUrl: string
let app: App
beforeEach(async () => {
  databaseUrl = await cloneDatabase()
  app = await openApp(databaseUrl)
})

async function logOf(count: number): Promise<void> {
  await emitMany(app.pool, newPlace(), count)
  await openRelay(app)
  await until(async () => (await wholeLog(databaseUrl)).length === count)
}

/** Makes the events up to this number so many days old. */
async function age(days: number, upTo: number): Promise<void> {
  await app.pool.query(`update events set "createdAt" = now() - make_interval(days => $1, mins => 1) where seq <= $2`, [
    days,
    upTo,
  ])
}

async function numbers(): Promise<number[]> {
  return (await wholeLog(databaseUrl)).map(({ seq }) => seq)
}

async function partitions(): Promise<string[]> {
  const { rows } = await app.pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by inhrelid`,
  )
  return rows.map(({ name }) => name)
}

describe('pruning', () => {
  it('deletes events that are two days older than promised, in chunks, and nothing else', async () => {
    await logOf(10)
    await age(31, 10)
    expect(await pruneEvents.prune(app, 3)).toBe(0)
    await age(32, 7)
    expect(await pruneEvents.prune(app, 3)).toBe(7)
    expect(await numbers()).toEqual([8, 9, 10])
    expect(await pruneEvents.prune(app)).toBe(0)
  })

  it('drops a partition when its newest event is a day older than promised, and an empty one with it', async () => {
    await logOf(4)
    await addPartition(app.pool, 10_000_000n, 11_000_000n)
    await addPartition(app.pool, 11_000_000n, 12_000_000n)
    await app.pool.query('update event_sequence set last = 11000000')
    await emitMany(app.pool, newPlace(), 3)
    app.signals.emit('outbox')
    await until(async () => (await numbers()).length === 7)
    await age(31, 3)
    await pruneEvents.prune(app)
    expect(await numbers()).toHaveLength(7)
    await age(31, 4)
    await pruneEvents.prune(app)
    expect(await numbers()).toEqual([11_000_001, 11_000_002, 11_000_003])
    expect(await partitions()).toEqual(['events_from_11000000'])
  })

  it('never drops a partition that may still get events', async () => {
    await logOf(4)
    await age(31, 4)
    await pruneEvents.prune(app)
    expect(await numbers()).toHaveLength(4)
    expect(await partitions()).toEqual(['events_from_0'])
  })

  it('takes only expired events, whichever partition has rows in the same places', async () => {
    await logOf(4)
    await addPartition(app.pool, 10_000_000n, 11_000_000n)
    await app.pool.query('update event_sequence set last = 10000000')
    await emitMany(app.pool, newPlace(), 4)
    app.signals.emit('outbox')
    await until(async () => (await numbers()).length === 8)
    await age(32, 2)
    expect(await pruneEvents.prune(app)).toBe(2)
    expect(await numbers()).toEqual([3, 4, 10_000_001, 10_000_002, 10_000_003, 10_000_004])
    await age(32, 3)
    // The statement of the version before, which may still run during an upgrade: `ctid` names a row in each partition.
    await app.pool.query(
      `delete from events where ctid = any(array(select ctid from events where "createdAt" < now() - interval '30 days'))`,
    )
    expect(await numbers()).toEqual([4, 10_000_001, 10_000_002, 10_000_003, 10_000_004])
  })
})
