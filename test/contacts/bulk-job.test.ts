// The job of a bulk operation outlasts a rolling restart, which hands it back or kills its process once for each node.
import { expect, it } from 'vitest'
import { bulkJob } from '../../src/contacts/bulk/bulk-job.ts'
import { newId } from '../../src/core/id.ts'
import { enqueue } from '../../src/core/jobs/jobs.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'

it('a bulk job that is handed back twenty times is tried again, and may run for hours', async () => {
  const databaseUrl = await cloneDatabase()
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  await enqueue(app, pool, bulkJob, [{ data: { id: newId() } }])
  for (let n = 0; n < 20; n++) {
    const [job] = await app.boss.fetch(bulkJob.name)
    expect(job, `try ${n + 1}`).toMatchObject({ expireInSeconds: 21_600 })
    await app.boss.fail(bulkJob.name, job?.id ?? '', { error: 'handed back' })
    await pool.query('update pgboss.job set start_after = now() where name = $1', [bulkJob.name])
  }
  const { rows } = await pool.query('select state::text from pgboss.job where name = $1', [bulkJob.name])
  expect(rows).toEqual([{ state: 'retry' }])
})
