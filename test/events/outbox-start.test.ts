// The relay reads little of the outbox although an old snapshot keeps all that it has deleted, and loses no event for that.
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { withConnection } from '../../src/core/database/database.ts'
import { createOutboxStart, type OutboxStart } from '../../src/events/log/outbox-start.ts'
import { begin, hasWork, limitSession, numberOldest, rollback } from '../../src/events/log/relay.sql.ts'
import { buffersRead } from '../kit/buffers-read.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { emitMany, newPlace, numberOf } from './rig.ts'

const place = newPlace()

/** Looks at the outbox as the relay does. Returns the numbers of the events. */
async function look(client: pg.PoolClient, start: OutboxStart): Promise<number[]> {
  const { events } = await numberOldest(client, start.after, 500)
  await start.looked()
  return events.map(({ payload }) => numberOf(payload))
}

async function lookOften(client: pg.PoolClient, start: OutboxStart, perLook: number): Promise<void> {
  for (let looks = 0; looks < 48; looks++) {
    await emitMany(client, place, perLook)
    await look(client, start)
  }
}

/** The pages that a look for work, and one that numbers an event, read from a position on. */
async function pagesFrom(client: pg.PoolClient, after: bigint): Promise<number> {
  await begin(client)
  await emitMany(client, place, 1)
  const pages = await buffersRead(client, async (sql) => {
    await hasWork(sql, after)
    await numberOldest(sql, after, 500)
  })
  await rollback(client)
  return pages
}

async function relayed(test: (pool: pg.Pool, client: pg.PoolClient, start: OutboxStart) => Promise<void>): Promise<void> {
  const pool = sql(await cloneDatabase())
  await withConnection(pool, async (client, lose) => {
    await limitSession(client)
    await test(pool, client, createOutboxStart(client))
    lose(new Error('its settings are those of the relay'))
  })
}

describe('the start of the outbox', () => {
  it('lets the relay read a bounded number of pages while an old snapshot keeps all deleted rows', async () => {
    await relayed(async (pool, client, start) => {
      await withConnection(pool, async (holder) => {
        await holder.query('begin isolation level repeatable read; select 1')
        await lookOften(client, start, 20)
        const early = await pagesFrom(client, start.after)
        for (let more = 0; more < 3; more++) await lookOften(client, start, 20)
        expect(await pagesFrom(client, start.after)).toBeLessThan(1.5 * early)
        expect(await pagesFrom(client, 0n)).toBeGreaterThan(3 * early)
        await holder.query('rollback')
      })
    })
  })

  it('stays before the event of a transaction that commits long after later ones were numbered', async () => {
    await relayed(async (pool, client, start) => {
      await withConnection(pool, async (late) => {
        await lookOften(client, start, 1)
        await late.query('begin')
        await emitMany(late, place, 1, 7)
        await lookOften(client, start, 1)
        await late.query('commit')
      })
      expect(await look(client, start)).toEqual([7])
      const { after } = start
      await lookOften(client, start, 1)
      expect(start.after).toBeGreaterThan(after)
    })
  })

  it('finds events whose positions were set back, as by a restored copy', async () => {
    await relayed(async (_, client, start) => {
      await lookOften(client, start, 1)
      expect(start.after).toBeGreaterThan(0n)
      await client.query('alter sequence outbox_position_seq restart')
      await lookOften(client, start, 0)
      await emitMany(client, place, 1, 7)
      expect(await look(client, start)).toEqual([7])
    })
  })
})
