// The log keeps events for 30 days.
import { beforeEach, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { newId } from '../../src/core/id.ts'
import { pruneEvents } from '../../src/events/log/prune.ts'
import { createAccount } from '../kit/accounts.ts'
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

describe('pruning', () => {
  it('deletes events older than 30 days with their deliveries, in chunks, and nothing else', async () => {
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
    expect(await pruneEvents.prune(app, 3)).toBe(7)
    expect((await wholeLog(databaseUrl)).map((event) => event.seq)).toEqual([8, 9, 10])
    const { rows } = await app.pool.query<{ left: number }>('select count(*)::int as left from webhook_deliveries')
    expect(rows[0]?.left).toBe(3)
    expect(await pruneEvents.prune(app)).toBe(0)
  })
})
