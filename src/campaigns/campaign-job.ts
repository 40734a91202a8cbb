// The jobs that keep campaigns going.
import { z } from 'zod'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { defineJob, enqueueUnder } from '../core/jobs/jobs.ts'

/** Sends the next of a campaign's messages; one waits for each campaign that has something to do. */
export const advanceJob = defineJob({
  name: 'campaign.advance',
  schema: z.object({ id: z.string() }),
  options: {
    policy: 'short',
    notify: true,
    retryLimit: 1000,
    retryDelay: 0,
    heartbeatSeconds: 10,
    expireInSeconds: 120,
    deleteAfterSeconds: 60,
  },
})

/** Looks after campaigns that have no job though they should, as after a restore from a backup. */
export const sweepJob = defineJob({
  name: 'campaign.sweep',
  schema: z.object({}),
  cron: '* * * * *',
  options: { policy: 'exclusive', retryLimit: 0, deleteAfterSeconds: 60 },
})

/** Lets a campaign go on at `startAfter`, or now. */
export async function wake(app: App, tx: Sql, id: string, startAfter?: Date): Promise<void> {
  await enqueueUnder(app, tx, advanceJob, id, { data: { id }, startAfter })
}
