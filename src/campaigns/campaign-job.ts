// The job that sends the next messages of a campaign.
import { z } from 'zod'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { startWaiting } from '../core/jobs/due.sql.ts'
import { defineJob, enqueueUnder, type Start } from '../core/jobs/jobs.ts'
import { readPayer } from './advance.sql.ts'

/** Sends the next messages of a campaign. One job waits for each campaign that has something to do (policy `short`). */
export const advanceJob = defineJob({
  name: 'campaign.advance',
  schema: z.object({ id: z.string() }),
  options: {
    policy: 'short',
    retryLimit: 1000,
    retryDelay: 0,
    heartbeatSeconds: 10,
    expireInSeconds: 120,
    deleteAfterSeconds: 60,
  },
})

/**
 * Adds the job of the next step of a campaign, which starts at `startAfter`, or at once. Its group is the account that pays, `payer`, which is
 * read if the caller does not know it.
 */
export async function enqueueStep(app: App, tx: Sql, id: string, startAfter?: Start, payer?: string): Promise<void> {
  await enqueueUnder(app, tx, advanceJob, id, { data: { id }, startAfter, group: payer ?? (await readPayer(tx, id)) })
}

/** Implements `Hooks.continueCampaigns`. */
export async function continueCampaigns(tx: Sql, campaignIds: readonly string[]): Promise<void> {
  if (campaignIds.length > 0) await startWaiting(tx, advanceJob.name, campaignIds)
}
