// The sweep for messages that expired or have no job costs little beside very many others.
import { expect, it } from 'vitest'
import type { Sql } from '../../src/core/database/database.ts'
import { lockExpired, readWithoutJob } from '../../src/messages/dispatch/sweep.sql.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { openApp } from './rig.ts'

const many = 20_000

/** Adds messages of a new instance that have this status and are due in `dueIn`. */
async function addMany(databaseUrl: string, status: string, dueIn: string): Promise<void> {
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  await sql(databaseUrl).query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, status, "scheduledAt", "dueAt")
     select gen_random_uuid(), $1, $2, $3, 'text', n, n, 'hello', '{}', $5::message_status, now() + $6::interval, now() + $6::interval
     from generate_series(1, $4::int) i, lateral (select '+39333' || 1000000 + i as n) number`,
    [account.workspaceId, account.userId, instanceId, many, status, dueIn],
  )
}

/** The rows of messages and jobs that the statements of `run` read. */
async function rowsReadBy(databaseUrl: string, run: (sql: Sql) => Promise<unknown>): Promise<number> {
  await sql(databaseUrl).query('vacuum analyze messages, pgboss.job_common')
  const { pool } = await openApp(databaseUrl)
  const statements: { text: string; values?: unknown[] }[] = []
  const recorder = { query: async (text: string, values?: unknown[]) => statements.push({ text, values }) && { rows: [] } }
  await run(recorder as unknown as Sql)
  const reading = statements.filter(({ text }) => /\bmessages\b/.test(text))
  expect(reading).toHaveLength(1)
  return await rowsRead(pool, reading)
}

it('reads neither 20,000 scheduled messages nor their jobs nor 20,000 messages that were delivered while none is overdue', async () => {
  const databaseUrl = await cloneDatabase()
  await addMany(databaseUrl, 'queued', '1 day')
  await sql(databaseUrl).query(
    `insert into pgboss.job (name, data, start_after) select 'message.dispatch', jsonb_build_object('id', id), "dueAt" from messages`,
  )
  await addMany(databaseUrl, 'delivered', '-2 days')
  expect(await rowsReadBy(databaseUrl, (tx) => lockExpired(tx, 86_400_000))).toBeLessThan(many / 10)
  expect(await rowsReadBy(databaseUrl, readWithoutJob)).toBeLessThan(many / 10)
})
