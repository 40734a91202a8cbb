// An erasure includes every message that exists by the clock of the database, whatever the clock of the process says.
import { expect, it, vi } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { eraseNumber } from '../../src/messages/erase/erase.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

it.each([-3_600_000, 3_600_000])('the time of an erasure is that of the database when the process is %d ms off', async (ms) => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx } = await openWorkspace(databaseUrl)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  try {
    await sqlTransaction(app.pool, (tx) => eraseNumber(app, tx, ctx.principal, '+4915112350007'))
  } finally {
    vi.useRealTimers()
  }
  const { rows } = await sql(databaseUrl).query(
    `select abs(extract(epoch from (data->>'before')::timestamptz - created_on)) < 60 as close from pgboss.job where name = 'messages.erase'`,
  )
  expect(rows).toEqual([{ close: true }])
})
