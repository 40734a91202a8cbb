// The relay numbers events in commit order, without gaps, even when leaders die.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { readAfter } from '../../src/events/log/log.sql.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { environment, node, secretKey } from '../kit/environment.ts'
import { type Running, watch } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'
import { emitMany, newPlace, numberOf, openApp, openRelay, type Place, wholeLog } from './rig.ts'

let databaseUrl: string
beforeEach(async () => {
  databaseUrl = await cloneDatabase()
})

function startRelayProcess(): Running {
  const env = { ...environment, DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, LOG_LEVEL: 'debug' }
  const script = path.join(import.meta.dirname, 'relay-process.ts')
  return watch(spawn(node, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** Runs transactions that take positions in one order and commit in another. Returns how many events they wrote. */
async function writeDisorderly(place: Place, writers: number, rounds: number): Promise<number> {
  let n = 0
  const write = async () => {
    for (let round = 0; round < rounds; round++) {
      await sqlTransaction(sql(databaseUrl), async (tx) => {
        const first = n
        n += 3
        await emitMany(tx, place, 2, first)
        await pause(Math.random() * 15)
        await emitMany(tx, place, 1, first + 2)
        await pause(Math.random() * 15)
      })
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  return n
}

/** Reads the log by cursor, a page at a time, as it grows. */
function readAlong(place: Place): { seen: number[]; stop: () => Promise<void> } {
  const seen: number[] = []
  let stopped = false
  const reading = (async () => {
    for (let cursor = 0n; !stopped; await pause(Math.random() * 5)) {
      const { events } = await readAfter(sql(databaseUrl), place.workspaceId, {}, { after: cursor, limit: 7 })
      seen.push(...events.map((event) => numberOf(event.payload)))
      cursor = events.at(-1)?.seq ?? cursor
    }
  })()
  return {
    seen,
    stop: async () => {
      stopped = true
      await reading
    },
  }
}

describe('the relay', () => {
  it('skips and repeats no event for a reader by cursor while writers commit out of order and leaders are killed', async () => {
    const place = newPlace()
    const readers = [readAlong(place), readAlong(place)]
    let leader = startRelayProcess()
    await leader.line(/numbers events/)
    const writing = writeDisorderly(place, 4, 100)
    for (let kills = 0; kills < 2; kills++) {
      const next = startRelayProcess()
      // The time that a process takes to start must not count towards the takeover measured below.
      await next.line(/^candidate$/)
      leader.kill('SIGKILL')
      await next.line(/numbers events/, 10_000)
      leader = next
    }
    const count = await writing
    for (const reader of readers) {
      await until(() => reader.seen.length >= count)
      await reader.stop()
    }
    const log = await wholeLog(databaseUrl)
    expect(log.map((event) => event.seq)).toEqual(Array.from({ length: count }, (_, i) => i + 1))
    for (const { seen } of readers) expect(seen).toEqual(log.map((event) => event.n))
    expect(new Set(log.map((event) => event.n)).size).toBe(count)
    await leader.stop()
  })

  it('keeps the order of writes within one transaction, and the order of consecutive transactions', async () => {
    const app = await openApp(databaseUrl)
    const place = newPlace()
    for (let n = 0; n < 20; n += 2) await emitMany(app.pool, place, 2, n)
    await openRelay(app)
    await until(async () => (await wholeLog(databaseUrl)).length === 20)
    expect((await wholeLog(databaseUrl)).map((event) => event.n)).toEqual(Array.from({ length: 20 }, (_, n) => n))
  })

  it('passes the lead on when the leader freezes, and numbers nothing twice when the old leader wakes up', async () => {
    const place = newPlace()
    const frozen = startRelayProcess()
    await frozen.line(/numbers events/)
    const next = startRelayProcess()
    await next.line(/^candidate$/)
    frozen.kill('SIGSTOP')
    await emitMany(sql(databaseUrl), place, 5)
    await next.line(/numbers events/, 10_000)
    await until(async () => (await wholeLog(databaseUrl)).length === 5)
    frozen.kill('SIGCONT')
    await emitMany(sql(databaseUrl), place, 5, 5)
    await until(async () => (await wholeLog(databaseUrl)).length === 10)
    expect((await wholeLog(databaseUrl)).map(({ seq, n }) => [seq, n])).toEqual(Array.from({ length: 10 }, (_, i) => [i + 1, i]))
    await Promise.all([frozen.stop(), next.stop()])
  })

  it('numbers nothing while a sink fails, counts the failures, and then goes on where it stopped', async () => {
    const app = await openApp(databaseUrl)
    const place = newPlace()
    await app.pool.query('create table sent (seq bigint primary key)')
    let failures = 3
    await openRelay(app, async (tx, events) => {
      await tx.query('insert into sent select unnest($1::bigint[])', [events.map((event) => event.seq)])
      if (failures-- > 0) throw new Error('the sink is out of order')
    })
    await emitMany(app.pool, place, 4)
    await until(async () => (await wholeLog(databaseUrl)).length === 4)
    const { rows } = await app.pool.query<{ seq: string }>('select seq from sent order by seq')
    expect(rows.map((row) => Number(row.seq))).toEqual([1, 2, 3, 4])
    expect((await app.metrics.relayFailures.get()).values[0]?.value).toBe(3)
  })

  it('passes each event to the sink once, in the transaction that numbers it', async () => {
    const app = await openApp(databaseUrl)
    const place = newPlace()
    const sent: string[] = []
    await openRelay(app, async (tx, events) => {
      const { rows } = await tx.query<{ last: string }>('select last from event_sequence')
      expect(BigInt(rows[0]?.last ?? 0)).toBe(events.at(-1)?.seq)
      sent.push(...events.map((event) => event.payload))
    })
    await emitMany(app.pool, place, 1_201)
    await until(async () => (await wholeLog(databaseUrl)).length === 1_201)
    expect(sent).toEqual((await wholeLog(databaseUrl)).map((event) => event.payload))
  })

  it('numbers an event of another process without being notified', async () => {
    await openRelay(await openApp(databaseUrl))
    const place = newPlace()
    // It leads when it has numbered the first one.
    for (const n of [0, 1]) {
      await emitMany(sql(databaseUrl), place, 1, n)
      await until(async () => (await wholeLog(databaseUrl)).length === n + 1)
    }
  })
})
