// Expired bulk jobs: a scheduled job deletes them and nothing else.
import { beforeAll, describe, expect, it } from 'vitest'
import { pruneBulkJobs } from '../../src/contacts/prune.ts'
import { newId } from '../../src/core/id.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { apiDocument } from '../kit/document.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'

let databaseUrl: string
let account: Account

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
})

/** Inserts a job that was created 40 days ago and ended `endedAgo` ago, or never. */
async function addJob(status: string, endedAgo: string | null): Promise<string> {
  const id = newId()
  await sql(databaseUrl).query(
    `insert into bulk_jobs (id, "workspaceId", operation, status, "contactIds", "requestedCount", summary, "createdAt", "completedAt")
     values ($1, $2, 'bulk_delete_contacts', $3, '{}', 100, '{"deleted": 0, "notFound": 0}',
       now() - interval '40 days', now() - $4::interval)`,
    [id, account.workspaceId, status, endedAgo],
  )
  return id
}

async function kept(): Promise<string[]> {
  const { rows } = await sql(databaseUrl).query<{ id: string }>('select id from bulk_jobs order by id')
  return rows.map(({ id }) => id)
}

describe('pruning', () => {
  it('deletes jobs that ended more than 30 days ago, in any final state, in chunks, and nothing else', async () => {
    const open = [await addJob('pending', null), await addJob('processing', null)]
    const recent = [await addJob('done', '29 days 23 hours'), await addJob('failed', '1 minute')]
    for (const status of ['done', 'failed', 'cancelled', 'done', 'done']) await addJob(status, '30 days 1 minute')
    const app = await openApp(databaseUrl)
    expect(await pruneBulkJobs.prune(app, 2)).toBe(5)
    expect(await kept()).toEqual([...open, ...recent].sort())
    expect(await pruneBulkJobs.prune(app)).toBe(0)
  })

  it('ends after the batch in progress when the process stops; the next run goes on', async () => {
    for (const status of ['done', 'failed', 'done', 'done']) await addJob(status, '31 days')
    const app = await openApp(databaseUrl)
    app.stopping = true
    expect(await pruneBulkJobs.prune(app, 2)).toBe(2)
    app.stopping = false
    expect(await pruneBulkJobs.prune(app, 2)).toBe(2)
  })

  it('runs hourly on a worker', async () => {
    const app = await openApp(databaseUrl)
    const old = await addJob('done', '31 days')
    await openGateway({ databaseUrl })
    const { rows } = await sql(databaseUrl).query(`select cron from pgboss.schedule where name = 'contacts.prune'`)
    expect(rows).toEqual([{ cron: '47 * * * *' }])
    await app.boss.send('contacts.prune', {})
    await until(async () => !(await kept()).includes(old))
  })

  it('is documented where jobs are listed', () => {
    expect(apiDocument().paths['/contacts/bulk-jobs']?.get?.description).toContain('kept for 30 days after its end')
  })
})
