// Proves that retention jobs delete expired rows batch by batch, and keep rows that are renewed or in use meanwhile.
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { pruneAccounts } from '../../src/accounts/jobs.ts'
import { pruneBilling } from '../../src/billing/jobs.ts'
import { pruneBulkJobs } from '../../src/contacts/prune.ts'
import type { App } from '../../src/core/app.ts'
import { pruneKeys } from '../../src/core/idempotency/prune.ts'
import type { ExpiredRows } from '../../src/core/jobs/prune.sql.ts'
import { definePrune } from '../../src/core/jobs/prune.ts'
import { pruneEvents } from '../../src/events/log/prune.ts'
import { pruneDeliveries } from '../../src/webhooks/prune.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'

let databaseUrl: string
let app: App
let statements: number
const info = vi.fn()

const schedule = { name: 'notes.prune', cron: '5 * * * *' }
const notes: ExpiredRows = { table: 'notes', where: 'age > $2', values: [30], order: 'age desc' }

beforeEach(async () => {
  databaseUrl = await cloneDatabase()
  const pool = sql(databaseUrl)
  await pool.query('create table notes (note text, age int); create table drafts (like notes)')
  statements = 0
  info.mockClear()
  const query = (...asked: Parameters<typeof pool.query>) => {
    statements++
    return pool.query(...asked)
  }
  app = { pool: { query }, log: { info } } as unknown as App
})

/** Adds notes of these ages, named after them. */
async function add(ages: readonly number[], table = 'notes'): Promise<void> {
  await sql(databaseUrl).query(`insert into ${table} select 'of ' || age, age from unnest($1::int[]) age`, [ages])
}

async function kept(): Promise<number[]> {
  const { rows } = await sql(databaseUrl).query<{ age: number }>('select age from notes order by age')
  return rows.map(({ age }) => age)
}

describe('prune', () => {
  it('deletes only expired rows, until a batch is not full', async () => {
    await add([31, 29, 32, 30, 33, 34, 35])
    expect(await definePrune(schedule, notes).prune(app, 2)).toBe(5)
    expect(await kept()).toEqual([29, 30])
    expect(statements).toBe(3)
    expect(info.mock.calls).toEqual([[{ table: 'notes', pruned: 5 }, 'expired rows deleted']])
  })

  it('queries once more after a full batch, and logs nothing when nothing has expired', async () => {
    await add([31, 32, 1])
    const job = definePrune(schedule, notes)
    expect(await job.prune(app, 2)).toBe(2)
    expect(statements).toBe(2)
    expect(await job.prune(app, 2)).toBe(0)
    expect(statements).toBe(3)
    expect(info).toHaveBeenCalledTimes(1)
  })

  it('deletes in order, and keeps earlier batches deleted when a later one fails', async () => {
    await add([31, 34, 32, 33])
    const failing = { ...notes, where: `age > $2 and 1 / (case when (select max(age) from notes) > 32 then 1 else 0 end) = 1` }
    await expect(definePrune(schedule, failing).prune(app, 2)).rejects.toThrow('division by zero')
    expect(await kept()).toEqual([31, 32])
  })

  it('deletes from several tables after the `before` step, and counts each table separately', async () => {
    await add([31, 32])
    await add([1, 40, 41, 42], 'drafts')
    const before = vi.fn(({ pool }: Pick<App, 'pool'>) => pool.query('update notes set age = 0 where age = 31'))
    expect(await definePrune({ ...schedule, before }, notes, { ...notes, table: 'drafts' }).prune(app)).toBe(4)
    expect(before).toHaveBeenCalledTimes(1)
    expect(info.mock.calls.map(([counted]) => counted)).toEqual([
      { table: 'notes', pruned: 1 },
      { table: 'drafts', pruned: 3 },
    ])
  })

  it('waits for a locked row, and keeps it if it was renewed', async () => {
    await add([31, 32, 33])
    const renew: [string, number] = ['update notes set age = 0 where age = $1', 32]
    const pruned = await whileHeld(databaseUrl, renew, [() => definePrune(schedule, notes).prune(app)])
    expect(pruned).toEqual([2])
    expect(await kept()).toEqual([0])
  })

  it('leaves a locked row to the next run with skipLocked', async () => {
    await add([31, 32, 33])
    const job = definePrune(schedule, { ...notes, skipLocked: true })
    const holder = await sql(databaseUrl).connect()
    await holder.query('begin')
    await holder.query('select from notes where age = 32 for update')
    expect(await job.prune(app).finally(() => holder.query('commit').then(() => holder.release()))).toBe(2)
    expect(await kept()).toEqual([32])
    expect(await job.prune(app)).toBe(1)
  })
})

describe('the job', () => {
  it('has the name, the time and the options of its declaration, and prunes when it runs', async () => {
    await add([31, 1])
    const job = definePrune({ ...schedule, options: { retryLimit: 3 } }, notes)
    expect(job.definition).toMatchObject({ ...schedule, options: { retryLimit: 3, expireInSeconds: 600 } })
    expect(job.work).toEqual({ batchSize: 1, workers: 1 })
    expect(await job.run(app, [{}])).toEqual([undefined])
    expect(await kept()).toEqual([1])
  })

  it('of each domain keeps its name, because the schedule under an old name would stay in the database', () => {
    const jobs = [pruneKeys, pruneAccounts, pruneBilling, pruneBulkJobs, pruneEvents, pruneDeliveries]
    expect(jobs.map(({ definition: { name, cron, options } }) => [name, cron, options])).toEqual([
      ['idempotency.prune', '37 * * * *', { retryLimit: 2, expireInSeconds: 600 }],
      ['accounts.prune', '23 * * * *', { retryLimit: 2, expireInSeconds: 600 }],
      ['billing.prune', '43 * * * *', { retryLimit: 2, expireInSeconds: 600 }],
      ['contacts.prune', '47 * * * *', { retryLimit: 2, expireInSeconds: 600 }],
      ['events.prune', '17 * * * *', { retryLimit: 2, expireInSeconds: 600 }],
      ['webhook.prune', '17 * * * *', { retryLimit: 3, expireInSeconds: 600, deleteAfterSeconds: 3600 }],
    ])
  })
})

it('deletes expired sessions and verifications of accounts, and counters that were not updated for a day', async () => {
  const pool = sql(databaseUrl)
  await pool.query(`
    with ada as (insert into users (id, email, name) values (gen_random_uuid(), 'ada@example.com', 'Ada') returning id)
    insert into auth_sessions (id, token, "userId", "expiresAt")
      select gen_random_uuid(), name, ada.id, now() + ends from ada, (values ('old', interval '-1 minute'), ('new', '1 minute')) s (name, ends);
    insert into auth_verifications (id, identifier, value, "expiresAt") values
      (gen_random_uuid(), 'old', '', now() - interval '1 minute'), (gen_random_uuid(), 'new', '', now() + interval '1 minute');
    insert into email_counts (digest, at, "updatedAt") values
      ('old', '{}', now() - interval '1 day 1 minute'), ('new', '{}', now() - interval '23 hours 59 minutes')`)
  expect(await pruneAccounts.prune(app, 1)).toBe(3)
  const { rows } = await pool.query(
    `select token as name from auth_sessions union all select identifier from auth_verifications
     union all select convert_from(digest, 'utf8') from email_counts`,
  )
  expect(rows).toEqual([{ name: 'new' }, { name: 'new' }, { name: 'new' }])
})
