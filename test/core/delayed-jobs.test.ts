// A delayed job starts by the clock of the database, whatever the clock of the process that adds it.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { defineJob, delayOf, enqueue, enqueueUnder, implementJob } from '../../src/core/jobs/jobs.ts'
import { makeQueues } from '../../src/core/jobs/work.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'

it('a delay counts from the present of the database, for a new job and for one that waits', async () => {
  const app = await openApp(await cloneDatabase())
  const job = defineJob({ name: 'delayed', schema: z.object({ n: z.number() }), options: { policy: 'short' } })
  await makeQueues(app, [implementJob(job, { batchSize: 1, workers: 1 }, async (_, jobs) => jobs.map(() => undefined))])
  await sqlTransaction(app.pool, async (tx) => {
    // The present of the database stands still in a transaction.
    const startsIn = async () => {
      const text = `select extract(epoch from start_after - now())::float8 as seconds from pgboss.job where name = 'delayed'`
      return (await tx.query<{ seconds: number }>(text)).rows
    }
    await enqueue(app, tx, job, [{ data: { n: 1 }, key: 'one', startAfter: delayOf(1_250) }])
    expect(await startsIn()).toEqual([{ seconds: 1.25 }])
    await enqueueUnder(app, tx, job, 'one', { data: { n: 2 }, startAfter: delayOf(250) })
    expect(await startsIn()).toEqual([{ seconds: 0.25 }])
  })
})
