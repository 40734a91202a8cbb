// Proves that an upgrade ends the schedules of jobs that the new version does not have.
import { expect, it } from 'vitest'
import { dueJobs } from '../../src/core/jobs/queues.sql.ts'
import { createQueues } from '../../src/worker.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'

it('a job that was dropped is scheduled no more, and its jobs that nobody runs do not count as late', async () => {
  const app = await openApp(await cloneDatabase())
  await app.boss.createQueue('billing.end_periods')
  await app.boss.schedule('billing.end_periods', '* * * * *')
  await app.boss.send('billing.end_periods')
  expect(await dueJobs(app.pool)).toMatchObject([{ queue: 'billing.end_periods', n: 1 }])
  for (let starts = 0; starts < 2; starts++) await createQueues(app)
  expect(await app.boss.getSchedules()).toEqual([])
  expect(await dueJobs(app.pool)).toEqual([])
})
