// Sends a campaign page by page. One transaction turns a page of recipients into messages with quota and jobs.

import { setTimeout as pause } from 'node:timers/promises'
import { quotaLeft, reserveQuota } from '../billing/admission/quota.ts'
import { planInForceSql } from '../billing/plans.ts'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { implementJob } from '../core/jobs/jobs.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { type CampaignMessage, enqueueMessages } from '../messages/accept/enqueue.ts'
import { lastInstant } from '../messages/dispatch/dispatch.ts'
import { safetyBook } from '../messages/safety/safety.ts'
import { advanceJob, sweepJob, wake } from './campaign-job.ts'
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
  const { rows } = await app.pool.query<{ instanceId: string; to: string }>(
    `select c."instanceId", r."to" from campaigns c join campaign_recipients r on r."campaignId" = c.id and r.position = 1
     where c.id = $1`,
    [id],
  )
  await safetyBook(app).load(rows)
}

/** Thrown when a concurrent send took the quota after `quotaLeft` was read. The transaction rolls back and runs again. */
const quotaRaced = new Error('the quota went to others')

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

interface Held extends Campaign {
  ownerId: string
  plan: string
  subscribed: boolean
  instanceDeleted: boolean
  now: Date
}

interface Planned {
  position: number
  to: string
  body: string | null
  contactId: string | null
}

async function advanceIn(app: App, tx: Sql, id: string, pageSize: number): Promise<boolean> {
  // Other sends of this owner wait for the quota's row lock until the commit, so the commit does not wait for the disk
  // (asynchronous commit). A crash can lose this transaction as a whole, but not a part of it, and all that builds on it comes
  // later in the WAL.
  const [, campaign] = await Promise.all([tx.query('set local synchronous_commit = off'), hold(tx, id)])
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
      await change(tx, id, `status = 'completed', "completedAt" = now(), error = null`)
      return false
    case 'fail':
      await tx.query(
        `update campaign_recipients set status = 'failed', error = $2 where "campaignId" = $1 and status = 'planned'`,
        [id, step.error],
      )
      await change(tx, id, `status = 'failed', error = $2`, step.error)
      return false
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
  if (!campaign.subscribed) return await pauseItself(tx, id, 'SUBSCRIPTION_INACTIVE')
  const recipients = next.slice(0, await quotaLeft(tx, ownerId, plan))
  if (recipients.length === 0) return await pauseItself(tx, id, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
  const ids = await enqueueMessages(app, tx, campaign as CampaignMessage, recipients, campaign.now)
  await app.failpoint('campaign.mid_page')
  await tx.query({
    name: 'campaigns.enqueued',
    text: `update campaign_recipients r set status = 'enqueued', "messageId" = u.id
      from unnest($2::int[], $3::uuid[]) as u(position, id) where r."campaignId" = $1 and r.position = u.position`,
    values: [id, recipients.map(({ position }) => position), ids],
  })
  await change(
    tx,
    id,
    `status = 'running', error = null, "lastEnqueuedAt" = now(), "processingStartedAt" = coalesce("processingStartedAt", now())`,
  )
  // Reserves quota last: other sends of this owner wait for its row lock from here to the commit.
  const granted = await reserveQuota(
    tx,
    recipients.map(() => ({ ownerId, plan, counts: true })),
  )
  if (granted.includes(false)) throw quotaRaced
  return true
}

async function pauseItself(tx: Sql, id: string, error: string): Promise<false> {
  await change(tx, id, `status = 'paused', error = $2, "processingStartedAt" = coalesce("processingStartedAt", now())`, error)
  return false
}

async function change(tx: Sql, id: string, set: string, ...values: string[]): Promise<void> {
  await tx.query(`update campaigns set ${set}, "lastActivityAt" = now(), "updatedAt" = now() where id = $1`, [id, ...values])
  await announceChange(tx, subject('campaign', id))
}

const planInForce = planInForceSql('s')

async function hold(tx: Sql, id: string): Promise<Held | undefined> {
  const { rows } = await tx.query<Held>({
    name: 'campaigns.hold',
    text: `select c.*, date_trunc('milliseconds', now()) as now, w."ownerId", s.status <> 'inactive' as subscribed,
        ${planInForce} as plan,
        i."deletedAt" is not null as "instanceDeleted"
      from campaigns c
      join instances i on i.id = c."instanceId"
      join workspaces w on w.id = c."workspaceId"
      join subscriptions s on s."userId" = w."ownerId"
      where c.id = $1 for update of c`,
    values: [id],
  })
  return rows[0]
}

/**
 * Reads the recipients of the next page. The row lock on the campaign keeps others from changing them, and `for key share` keeps
 * their contacts until `tx` ends. The condition on `status` is a range, so that only the index (campaignId, status, position)
 * returns them in order: through the primary key, each page would read all rows before it again.
 */
async function readPlanned(tx: Sql, id: string, pageSize: number): Promise<Planned[]> {
  const { rows } = await tx.query<Planned>({
    name: 'campaigns.planned',
    text: `select r.position, r."to", r.body, c.id as "contactId"
      from (
        select * from campaign_recipients
        where "campaignId" = $1 and status between 'planned' and 'planned' order by status, position limit $2
      ) r left join lateral (select id from contacts where id = r."contactId" for key share) c on true order by r.position`,
    values: [id, pageSize],
  })
  return rows
}

async function countOpen(tx: Sql, id: string): Promise<{ open: number; waiting: number }> {
  const { rows } = await tx.query<{ open: number; waiting: number }>({
    name: 'campaigns.open',
    text: `select count(*)::int as open, count(*) filter (where "acceptedAt" is null)::int as waiting
      from messages where "campaignId" = $1 and status in ('queued', 'sending')`,
    values: [id],
  })
  return rows[0] as { open: number; waiting: number }
}

/** Runs every minute. Enqueues campaigns that have something to do but no job, for example after a restore from a backup. */
export const sweepImplementation = implementJob(sweepJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  await sqlTransaction(app.pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `select c.id from campaigns c where (c.status = 'running' or (c.status = 'scheduled' and c."scheduledFor" <= now()))
         and not exists (select from pgboss.job j where j.name = $1 and j.state < 'completed' and j.singleton_key = c.id::text)`,
      [advanceJob.name],
    )
    for (const { id } of rows) await wake(app, tx, id)
  })
  return jobs.map(() => undefined)
})
