// The sweep for messages without a job costs little beside very many scheduled messages.
import { expect, it } from 'vitest'
import type { Sql } from '../../src/core/database/database.ts'
import { readWithoutJob } from '../../src/messages/dispatch/sweep.sql.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { openApp } from './rig.ts'

const many = 20_000

it('reads neither 20,000 scheduled messages nor their jobs while none is overdue', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const { pool } = await openApp(databaseUrl)
  const db = sql(databaseUrl)
  await db.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, "scheduledAt", "dueAt")
     select gen_random_uuid(), $1, $2, $3, 'text', n, n, 'hello', '{}', now() + interval '1 day', now() + interval '1 day'
     from generate_series(1, $4::int) i, lateral (select '+39333' || 1000000 + i as n) number`,
    [account.workspaceId, account.userId, instanceId, many],
  )
  await db.query(
    `insert into pgboss.job (name, data, start_after) select 'message.dispatch', jsonb_build_object('id', id), "dueAt" from messages`,
  )
  await db.query('vacuum analyze messages, pgboss.job_common')
  const statements: { text: string; values?: unknown[] }[] = []
  const recorder = { query: async (text: string, values?: unknown[]) => statements.push({ text, values }) && { rows: [] } }
  await readWithoutJob(recorder as unknown as Sql)
  const reading = statements.filter(({ text }) => /\bmessages\b/.test(text))
  expect(reading).toHaveLength(1)
  expect(await rowsRead(pool, reading)).toBeLessThan(many / 10)
})
