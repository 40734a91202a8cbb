// Messages that share work: the group commit of concurrent requests, and the claims of messages to one number.
import type pg from 'pg'
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { lockState } from '../../src/instances/instances.sql.ts'
import { readFirsts } from '../../src/messages/dispatch/lines.sql.ts'
import { startLines } from '../../src/messages/dispatch/lines.ts'
import { sendDue } from '../../src/messages/dispatch/send.ts'
import { sendMessage, sendMessages } from '../../src/messages/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from './rig.ts'

it('commits one bulk or many single messages at a time, so that no transaction grows with the number of bulks', async () => {
  const databaseUrl = await cloneDatabase()
  const { ctx, instanceId } = await openWorkspace(databaseUrl)
  const message = (text: string) => ({ instanceId, to: '+393331234567', type: 'text', text })
  const bulks = Array.from({ length: 5 }, () => sendMessages(ctx, Array(200).fill(message('bulk'))))
  const singles = Array.from({ length: 20 }, () => sendMessage(ctx, message('single')))
  for (const { rejected } of await Promise.all(bulks)) expect(rejected).toEqual([])
  await Promise.all(singles)
  const { rows } = await sql(databaseUrl).query(
    'select min(body) as body, count(*)::int as count from messages group by xmin order by 1, 2',
  )
  expect(rows).toEqual([...Array(5).fill({ body: 'bulk', count: 200 }), { body: 'single', count: 20 }])
})

it('refuses a message that the database does not take, and accepts those of others that came with it', async () => {
  const databaseUrl = await cloneDatabase()
  const { ctx, instanceId } = await openWorkspace(databaseUrl)
  await sql(databaseUrl).query("alter table messages add constraint no_more check (body <> 'second') not valid")
  const texts = ['first', 'second', 'third']
  const sent = texts.map((text) => sendMessage(ctx, { instanceId, to: '+393331234567', type: 'text', text }))
  const outcomes = await Promise.allSettled(sent)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  const { rows } = await sql(databaseUrl).query('select body from messages order by "createdAt"')
  expect(rows.map(({ body }) => body)).toEqual(['first', 'third'])
  const usage = await sql(databaseUrl).query('select "messagesCount" as used from usage')
  expect(usage.rows).toEqual([{ used: 2 }])
})

it('accepts messages while the state of their instance changes', async () => {
  const { app, ctx, instanceId } = await openWorkspace(await cloneDatabase())
  await sqlTransaction(app.pool, async (tx) => {
    await lockState(tx, instanceId)
    await sendMessage(ctx, { instanceId, to: '+393331234567', type: 'text', text: 'hello' })
  })
})

it('reads a line of messages to one number once, not once for each that leaves', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { accepted } = await sendMessages(ctx, Array(20).fill({ instanceId, to: '+393331235555', type: 'text', text: 'hello' }))
  const ids = accepted.map(({ id }) => id)
  const reads = countReads(app.pool)
  expect(await sendDue(app, ids)).toEqual(new Map())
  await until(async () => (await takenIn(databaseUrl)).length === ids.length)
  expect(reads.rows).toBeLessThan(2 * ids.length)
  expect(await takenIn(databaseUrl)).toEqual(ids)
})

it('sends all messages to one number in order as soon as one waits for the others, ahead of their jobs', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { accepted } = await sendMessages(ctx, Array(70).fill({ instanceId, to: '+393331235555', type: 'text', text: 'hello' }))
  const ids = accepted.map(({ id }) => id)
  await using _ = startLines(app)
  const reads = countReads(app.pool)
  await sendDue(app, [ids[40] as string])
  await until(async () => (await takenIn(databaseUrl)).length === ids.length)
  expect(await takenIn(databaseUrl)).toEqual(ids)
  // On a slow machine, some statements find a message that another batch is sending.
  expect(reads.rows).toBe(reads.statements)
})

/** The messages that the network of the sandbox took, in that order. */
async function takenIn(databaseUrl: string): Promise<string[]> {
  const { rows } = await sql(databaseUrl).query('select reference as id from sandbox_messages order by "acceptedAt"')
  return rows.map(({ id }) => id)
}

it('counts the messages that wait for the same number, up to 200', async () => {
  const { app, ctx, instanceId } = await openWorkspace(await cloneDatabase())
  const peer = '+393331235555'
  const openOnes = async () => (await readFirsts(app.pool, [{ instanceId, peer }])).map(({ open }) => open)
  const texts = Array(150).fill({ instanceId, to: peer, type: 'text', text: 'hello' })
  await sendMessages(ctx, texts)
  expect(await openOnes()).toEqual([150])
  await sendMessages(ctx, texts)
  expect(await openOnes()).toEqual([200])
})

/** Counts the claims from now on, and the messages that they read. */
function countReads(pool: pg.Pool): { statements: number; rows: number } {
  const reads = { statements: 0, rows: 0 }
  const counted = new Set<pg.PoolClient>()
  pool.on('acquire', (client) => {
    if (counted.has(client)) return
    counted.add(client)
    const query = client.query.bind(client) as (config: pg.QueryConfig, values?: unknown[]) => Promise<pg.QueryResult>
    const counting = async (...call: Parameters<typeof query>) => {
      const result = await query(...call)
      if (call[0].name === 'messages.claim.read') {
        reads.statements++
        reads.rows += result.rowCount ?? 0
      }
      return result
    }
    client.query = counting as typeof client.query
  })
  return reads
}
