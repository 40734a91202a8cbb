// Sends a campaign page by page. One transaction turns a page of recipients into messages with quota and jobs.

import { setTimeout as pause } from 'node:timers/promises'
import { quotaLeft, reserveQuota } from '../billing/admission/quota.ts'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { implementJob } from '../core/jobs/jobs.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import { type CampaignMessage, enqueueMessages } from '../messages/accept/enqueue.ts'
import { countOpen } from '../messages/accept/unsent.sql.ts'
import { lastInstant } from '../messages/dispatch/dispatch.ts'
import { safetyBook } from '../messages/safety/safety.ts'
import {
  commitWithoutDisk,
  failPlanned,
  type Held,
  holdCampaign,
  markEnqueued,
  type Planned,
  readForgotten,
  readPlanned,
  saveStep,
} from './advance.sql.ts'
import { advanceJob, sweepJob, wake } from './campaign-job.ts'
import { tellCampaign } from './events.ts'
import { nextStep, type Progress, paceAfter, restAfter, turnMs } from './policy.ts'

export const advanceImplementation = implementJob(advanceJob, { batchSize: 1, workers: 2 }, async (app, jobs) => {
  for (const { id } of jobs) await takeTurn(app, id)
  return jobs.map(() => undefined)
})

/**
 * Sends page after page until nothing more may be sent for the moment, or until `turnMs` have passed and another campaign gets
 * the worker.
 */
async function takeTurn(app: App, id: string): Promise<void> {
  await readTrafficAhead(app, id)
  const begin = performance.now()
  for (;;) {
    const pageBegin = performance.now()
    const pace = paceAfter(pageBegin - lastInstant(app).at)
    if (!(await advance(app, id, pace.pageSize))) return
    const now = performance.now()
    if (app.stopping || now - begin > turnMs) break
    await pause(restAfter(now - pageBegin, pace))
  }
  await sqlTransaction(app.pool, (tx) => wake(app, tx, id))
}

/**
 * Loads the traffic of the instance before the campaign row is locked. For an instance that sends a lot, the first load in a
 * process takes seconds; under the row lock nobody could pause the campaign meanwhile.
 */
async function readTrafficAhead(app: App, id: string): Promise<void> {
  const first = await app.db.campaignRecipient.findUnique({
    where: { campaignId_position: { campaignId: id, position: 1 } },
    select: { to: true, campaign: { select: { instanceId: true } } },
  })
  if (first) await safetyBook(app).load([{ instanceId: first.campaign.instanceId, to: first.to }])
}

/** Thrown when a concurrent send took the quota after `quotaLeft` was read. The transaction rolls back and runs again. */
const quotaRaced = new Error('the quota is used up by other messages')

/** Runs the next step of a campaign, with at most `pageSize` messages. Returns true if more may be sent right after. */
export async function advance(app: App, id: string, pageSize: number): Promise<boolean> {
  for (;;) {
    try {
      return await sqlTransaction(app.pool, (tx) => advanceIn(app, tx, id, pageSize))
    } catch (error) {
      if (error !== quotaRaced) throw error
    }
  }
}

async function advanceIn(app: App, tx: Sql, id: string, pageSize: number): Promise<boolean> {
  const [, campaign] = await Promise.all([commitWithoutDisk(tx), holdCampaign(tx, id)])
  if (!campaign) return false
  const [recipients, counts] = await Promise.all([readPlanned(tx, id, pageSize), countOpen(tx, id)])
  const progress: Progress = { ...campaign, ...counts, planned: recipients.length }
  const step = nextStep(progress, campaign.now, pageSize)
  switch (step.do) {
    case 'nothing':
      return false
    case 'later':
      await wake(app, tx, id, step.at)
      return false
    case 'complete':
      return await end(tx, id, 'completed')
    case 'fail':
      await failPlanned(tx, id, step.error)
      return await end(tx, id, 'failed', step.error)
    case 'send':
      return await send(app, tx, campaign, recipients.slice(0, step.most))
  }
}

/**
 * Creates messages for as many of the next recipients as the quota allows. Without quota or without a usable subscription, the
 * campaign pauses itself.
 */
async function send(app: App, tx: Sql, campaign: Held, next: readonly Planned[]): Promise<boolean> {
  const { id, ownerId, plan } = campaign
  if (!campaign.subscribed) return await end(tx, id, 'paused', 'SUBSCRIPTION_INACTIVE')
  const recipients = next.slice(0, await quotaLeft(tx, ownerId, plan))
  if (recipients.length === 0) return await end(tx, id, 'paused', 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
  const ids = await enqueueMessages(app, tx, campaign as CampaignMessage, recipients, campaign.now)
  await app.failpoint('campaign.mid_page')
  await markEnqueued(
    tx,
    id,
    recipients.map(({ position }) => position),
    ids,
  )
  await change(tx, id, 'running')
  if (campaign.status !== 'running') await tellCampaign(tx, id)
  // Reserves quota last: other sends of this owner wait for its row lock from here to the commit.
  const granted = await reserveQuota(
    tx,
    recipients.map(() => ({ ownerId, plan, counts: true })),
  )
  if (granted.includes(false)) throw quotaRaced
  return true
}

/** Ends or pauses the campaign by itself. Returns false, because nothing more may be sent. */
async function end(tx: Sql, id: string, status: 'paused' | 'completed' | 'failed', error?: string): Promise<false> {
  await change(tx, id, status, error)
  await tellCampaign(tx, id)
  return false
}

async function change(
  tx: Sql,
  id: string,
  status: 'running' | 'paused' | 'completed' | 'failed',
  error: string | null = null,
): Promise<void> {
  await saveStep(tx, id, status, error)
  await announceChange(tx, subject('campaign', id))
}

/** Runs every minute. Enqueues campaigns that have something to do but no job, for example after a restore from a backup. */
export const sweepImplementation = implementJob(sweepJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  await sqlTransaction(app.pool, async (tx) => {
    for (const id of await readForgotten(tx)) await wake(app, tx, id)
  })
  return jobs.map(() => undefined)
})
