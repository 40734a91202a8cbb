// Sends a campaign page by page. One transaction turns a page of recipients into messages with quota and jobs.
import { setTimeout as pause } from 'node:timers/promises'
import { quotaLeft, reserveQuota } from '../billing/admission/quota.ts'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { delayOf, implementJob } from '../core/jobs/jobs.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import type { SafetyState } from '../instances/safety.ts'
import { acceptCampaignMessages, type CampaignMessage } from '../messages/accept/campaign-messages.ts'
import { countOpen } from '../messages/accept/unsent.sql.ts'
import { lastInstant } from '../messages/dispatch/dispatch.ts'
import { safetyCache } from '../messages/safety/safety.ts'
import { suppressed } from '../suppressions/service.ts'
import { readSuppressed } from '../suppressions/suppressions.sql.ts'
import {
  commitWithoutDisk,
  type LockedCampaign,
  lockForAdvance,
  markEnqueued,
  type Planned,
  readPlanned,
  saveBegun,
  savePace,
  saveStep,
} from './advance.sql.ts'
import { advanceJob, enqueueStep } from './campaign-job.ts'
import { readStates } from './campaigns.sql.ts'
import { tellCampaign } from './events.ts'
import { defaultRates, nextMoment, stepAt } from './pace.ts'
import { isStopped, lookAgainAt, nextStep, type Progress, restAfter, speedAfter, turnMs } from './policy.ts'
import { nextQuiet, quietHoursOf, quietUntil } from './quiet-hours.ts'
import { endPlanned, takeBackAndPlan, takeBackLate } from './take-back.ts'

/**
 * One account has two of the workers at most. When it could have all, its 20 campaigns of 2,000 recipients delayed the campaign of another account
 * by 52 s.
 */
const shape = { batchSize: 1, workers: 3, perGroup: 2 } as const

export const advanceImplementation = implementJob(advanceJob, shape, async (app, jobs) => {
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
    const speed = speedAfter(pageBegin - lastInstant(app).at)
    if (!(await advance(app, id, speed.pageSize))) return
    const now = performance.now()
    if (app.stopping || now - begin > turnMs) break
    await pause(restAfter(now - pageBegin, speed))
  }
  await sqlTransaction(app.pool, (tx) => enqueueStep(app, tx, id))
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
  if (first) await safetyCache(app).load([{ instanceId: first.campaign.instanceId, to: first.to }])
}

/** The next look at a campaign that another transaction has locked. */
const lockedForMs = 250

/** Thrown when a concurrent send took the quota after `quotaLeft` was read. The transaction rolls back and runs again; its messages are judged anew. */
const quotaRaced = new Error('the quota is used up by other messages')

/** Runs the next step of a campaign, with at most `pageSize` messages. Returns true if another step is due right after. */
export async function advance(app: App, id: string, pageSize: number): Promise<boolean> {
  for (;;) {
    try {
      const more = await sqlTransaction(app.pool, (tx) => advanceIn(app, tx, id, pageSize))
      app.signals.emit('outbox')
      return more
    } catch (error) {
      if (error !== quotaRaced) throw error
    }
  }
}

/** A locked campaign with all that its next step depends on. */
interface Advancing extends LockedCampaign, Progress {}

async function advanceIn(app: App, tx: Sql, id: string, pageSize: number): Promise<boolean> {
  const [, locked] = await Promise.all([commitWithoutDisk(tx), lockForAdvance(tx, id)])
  if (!locked) {
    const exists = (await readStates(tx, [id])).length > 0
    if (exists) await enqueueStep(app, tx, id, delayOf(lockedForMs))
    return false
  }
  const [recipients, counts] = await Promise.all([readPlanned(tx, id, pageSize), countOpen(tx, id)])
  if (isStopped(locked) && counts.unaccepted > 0 && (await takeBackLate(app, tx, locked)) > 0) return false
  const quietHours = quietHoursOf(locked.quietHours)
  const campaign: Advancing = {
    ...locked,
    ...counts,
    planned: recipients.length,
    rate: rateOf(locked),
    quietUntil: quietUntil(quietHours, locked.now),
    quietFrom: nextQuiet(quietHours, locked.now),
  }
  const step = nextStep(campaign, campaign.now, pageSize)
  switch (step.do) {
    case 'nothing':
      return false
    case 'later':
      await enqueueStep(app, tx, id, step.at, campaign.ownerId)
      return false
    case 'quiet':
      return await keepQuiet(app, tx, campaign, step.until)
    case 'complete':
      return await end(tx, id, 'completed')
    case 'fail':
      await endPlanned(tx, id, { status: 'failed', error: step.error })
      return await end(tx, id, 'failed', step.error)
    case 'send':
      return await leaveOutUnwanted(app, tx, campaign, recipients, step.most)
  }
}

/** Messages a minute; null without a limit. The first message shows the safety state of the instance, so until then it is the lowest rate. */
function rateOf({ ratePerMinute, provider, defaultRate }: LockedCampaign): number | null {
  if (ratePerMinute !== null) return ratePerMinute
  return provider === 'sandbox' ? null : (defaultRate ?? defaultRates.restricted)
}

/** Lets the campaign wait until the quiet hours end. Queued messages, for example of an instance that is not connected, are planned again. */
async function keepQuiet(app: App, tx: Sql, campaign: Advancing, until: Date): Promise<false> {
  const { id, ownerId, status, planned, unaccepted, now } = campaign
  const takenBack = unaccepted > 0 ? await takeBackAndPlan(app, tx, id) : 0
  if (status === 'scheduled') await saveBegun(tx, id)
  if (takenBack > 0 || status === 'scheduled') await announceChange(tx, subject('campaign', id))
  if (status === 'scheduled') await tellCampaign(tx, id)
  // Without a planned recipient, only attempts in progress are left, which complete it.
  await enqueueStep(app, tx, id, planned + takenBack > 0 ? until : lookAgainAt(campaign, now), ownerId)
  return false
}

/** Cancels recipients whose contact was deleted or whose number is suppressed, and sends to at most `most` of the others. */
async function leaveOutUnwanted(
  app: App,
  tx: Sql,
  campaign: Advancing,
  page: readonly Planned[],
  most: number,
): Promise<boolean> {
  const { id, workspaceId } = campaign
  const isSuppressed = await readSuppressed(
    tx,
    page.map(({ to }) => ({ workspaceId, phone: to })),
  )
  const faultOf = ({ to, contactDeleted }: Planned) =>
    contactDeleted ? 'CONTACT_DELETED' : isSuppressed(workspaceId, to) ? suppressed : null
  const byFault = Map.groupBy(page, faultOf)
  const others = byFault.get(null) ?? []
  for (const [fault, unwanted] of byFault) {
    if (fault === null) continue
    const positions = unwanted.map(({ position }) => position)
    await endPlanned(tx, id, { status: 'cancelled', error: fault }, positions)
    await saveBegun(tx, id)
    await announceChange(tx, subject('campaign', id))
  }
  if (others.length === 0) {
    if (campaign.status !== 'running') await tellCampaign(tx, id)
    return true
  }
  return await send(app, tx, campaign, others.slice(0, most), others.length > most)
}

/**
 * Creates messages for as many of the next recipients as the quota allows. Without quota or without a usable subscription, the
 * campaign pauses itself. With a rate, the rest is sent by a job at its time.
 */
async function send(app: App, tx: Sql, campaign: Advancing, next: readonly Planned[], hasMore: boolean): Promise<boolean> {
  const { id, ownerId, plan, quietFrom, now } = campaign
  if (!campaign.subscribed) return await end(tx, id, 'paused', 'SUBSCRIPTION_INACTIVE')
  const recipients = next.slice(0, await quotaLeft(tx, ownerId, plan))
  if (recipients.length === 0) return await end(tx, id, 'paused', 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
  const { ids, state } = await acceptCampaignMessages(app, tx, campaign as CampaignMessage, recipients, now)
  await app.failpoint('campaign.mid_page')
  await markEnqueued(
    tx,
    id,
    recipients.map(({ position }) => position),
    ids,
  )
  await change(tx, id, 'running')
  if (campaign.status !== 'running') await tellCampaign(tx, id)
  const nextAt = await pace(tx, campaign, state, recipients.length)
  if (nextAt && hasMore) await enqueueStep(app, tx, id, stepAt(nextAt, now, quietFrom), ownerId)
  // Reserves quota last: other sends of this owner wait for its row lock from here to the commit.
  const granted = await reserveQuota(
    tx,
    recipients.map(() => ({ ownerId, plan, counts: true })),
  )
  if (!granted.includes(false)) return !(nextAt && hasMore)
  safetyCache(app).forget(campaign.instanceId)
  throw quotaRaced
}

/** Stores when the next message may leave, after `count` messages left now. Returns null without a rate. */
async function pace(tx: Sql, campaign: Advancing, state: SafetyState, count: number): Promise<Date | null> {
  if (campaign.rate === null) return null
  const byState = defaultRates[state]
  const nextAt = nextMoment(campaign.nextAt, campaign.ratePerMinute ?? byState, count, campaign.now)
  await savePace(tx, campaign.id, campaign.provider === 'sandbox' ? null : byState, nextAt)
  return nextAt
}

/** Ends or pauses the campaign by itself. Returns true after a pause, because messages that are queued may need a step in quiet hours. */
async function end(tx: Sql, id: string, status: 'paused' | 'completed' | 'failed', error?: string): Promise<boolean> {
  await change(tx, id, status, error)
  await tellCampaign(tx, id)
  return status === 'paused'
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
