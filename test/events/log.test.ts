// The log's cursors and how long it keeps.
import { beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { newId } from '../../src/core/id.ts'
import { decodeCursor, encodeCursor } from '../../src/events/cursor.ts'
import { resumeAfter } from '../../src/events/log.ts'
import { pruneEvents } from '../../src/events/prune.ts'
import { cloneDatabase, createAccount, until } from '../kit/kit.ts'
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

describe('a cursor', () => {
  it('comes back as the number it was made of', () => {
    for (const seq of [0n, 1n, 999n, 10n ** 17n]) expect(decodeCursor(encodeCursor(seq), 'after')).toBe(seq)
  })

  it.each(['', 'x', '1', 'ZTE6', encodeCursor(5n).slice(0, -1), Buffer.from('e1:-1').toString('base64url'), 'A'.repeat(5_000)])(
    'that nobody made (%s) is refused by name',
    (cursor) => {
      expect(() => decodeCursor(cursor, 'after')).toThrow('after: is not an event cursor')
    },
  )

  it('beyond the end of the log is refused, because it belongs to another log', async () => {
    await logOf(3)
    expect(await resumeAfter(app, encodeCursor(3n), 'after')).toBe(3n)
    await expect(resumeAfter(app, encodeCursor(4n), 'after')).rejects.toThrow('after: is beyond the end of the event log')
  })

  it('older than the oldest event kept is refused, so that nobody misses events without knowing', async () => {
    await logOf(6)
    await app.pool.query(`update events set "createdAt" = now() - interval '31 days' where seq <= 3`)
    expect(await resumeAfter(app, encodeCursor(1n), 'after')).toBe(1n)
    expect(await pruneEvents(app)).toBe(3)
    expect(await resumeAfter(app, encodeCursor(3n), 'after')).toBe(3n)
    await expect(resumeAfter(app, encodeCursor(2n), 'Last-Event-ID')).rejects.toThrow('Last-Event-ID: is older than the 30 days')
  })
})

describe('pruning', () => {
  it('deletes what is older than 30 days with its deliveries, chunk by chunk, and nothing else', async () => {
    await logOf(10)
    const { workspaceId } = await createAccount(databaseUrl)
    const endpointId = newId()
    await app.pool.query(
      `insert into webhook_endpoints (id, "workspaceId", url, events, secret) values ($1, $2, 'https://example.com', '{}', '')`,
      [endpointId, workspaceId],
    )
    await app.pool.query(
      `insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type) select gen_random_uuid(), $1, seq, id, type from events`,
      [endpointId],
    )
    await app.pool.query(`update events set "createdAt" = now() - interval '30 days 1 minute' where seq <= 7`)
    expect(await pruneEvents(app, 3)).toBe(7)
    expect((await wholeLog(databaseUrl)).map((event) => event.seq)).toEqual([8, 9, 10])
    const { rows } = await app.pool.query<{ left: number }>('select count(*)::int as left from webhook_deliveries')
    expect(rows[0]?.left).toBe(3)
    expect(await pruneEvents(app)).toBe(0)
  })
})
