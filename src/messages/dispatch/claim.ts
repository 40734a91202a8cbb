// Claims due messages for sending under a lease with a fencing token. Fails, defers, holds or reschedules the rest of the batch.
import { randomUUID } from 'node:crypto'
import { reserveQuota, returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { isUnavailable } from '../../core/public-failure.ts'
import { readSendingInstances } from '../../instances/sending.sql.ts'
import type { OutgoingMessage } from '../../providers/outgoing.ts'
import type { ProviderName, StoredInstance } from '../../providers/provider.ts'
import { instanceOf } from '../instance-of.ts'
import { markOutsideWindow, warnOutsideWindow } from '../safety/free-window.ts'
import { safetyCache } from '../safety/safety.ts'
import { lockOpen, type OpenRow, storeJudgements, storeLeases } from './claim.sql.ts'
import { defer } from './defer.ts'
import { type Dispatchable, dispatchRequest, enqueueDispatch, guardRequest } from './dispatch-job.ts'
import { failMessages } from './fail.ts'
import { giveBack } from './give-back.ts'
import { hold, releaseIfOpen } from './hold.ts'
import { recipientKey } from './hold-key.ts'
import { inFlight, type Slots } from './in-flight.ts'
import { isWithdrawn } from './leaving.ts'
import { leaseMs } from './policy.ts'
import { type Sorted, sortFollowers, sortMessages } from './sort.ts'
import { planFollowers } from './wait-causes.ts'
import { endHeld } from './waiting.sql.ts'
import { withdrawMessages } from './withdraw.ts'

export interface ClaimedMessage extends Dispatchable {
  token: string
  /** When its lease is over, by the clock of the database. */
  guardAt: Date
  /** True if a job checks it when the lease is over, so that its dispatch job need not wait for the end of the send. */
  guarded: boolean
  workspaceId: string
  /** Its contact when it was claimed; if that is deleted meanwhile, the row has none any more. */
  contactId: string | null
  peer: string
  attempt: number
  /** True if an earlier attempt may have reached the network. */
  mayHaveLeft: boolean
  provider: ProviderName
  instance: StoredInstance
  outgoing: OutgoingMessage
}

export interface NextMessage extends Dispatchable {
  instanceId: string
  peer: string
}

export interface Claim {
  /** The messages to send now. */
  claimed: ClaimedMessage[]
  /** Messages to the same recipients, in order, to claim after those. */
  next: NextMessage[]
  /** How many messages are not sent now and not held either: they have ended, or have a job. */
  passed: number
}

/** Decides for each message, which has a job, and applies the decision. Returns the messages to send now and those to claim next. */
export async function claimMessages(app: App, ids: readonly string[]): Promise<Claim> {
  const slots = inFlight(app).slots()
  try {
    return await claim(app, ids, slots)
  } finally {
    slots.clear()
  }
}

/** {@link claimMessages} for held messages, which have no job. The caller bounds how many of them are in progress. */
export async function claimHeld(app: App, ids: readonly string[]): Promise<Claim> {
  return await claim(app, ids)
}

/** Without `slots`, the messages are held ones. */
async function claim(app: App, ids: readonly string[], slots?: Slots): Promise<Claim> {
  let leased: ClaimedMessage[] = []
  try {
    const { toRelease, forHolder, followers, ...result } = await sqlTransaction(app.pool, async (tx) => {
      const decided = await claimIn(app, tx, ids, slots)
      leased = decided.claimed
      return decided
    })
    app.signals.emit('outbox')
    for (const key of toRelease) app.signals.emit('held', key, 0)
    for (const row of followers) app.signals.emit('line', row)
    releaseIfOpen(app, forHolder)
    return result
  } catch (error) {
    // The commit may have been carried out although its answer was lost.
    if (leased.length > 0 && isUnavailable(error)) inFlight(app).keep(giveBack(app, leased))
    throw error
  }
}

/**
 * `toRelease`: the keys whose messages this process is to release. `forHolder`: messages that are held for the holder of their connection.
 * `followers`: messages that are claimed again after one of another batch.
 */
async function claimIn(
  app: App,
  tx: Sql,
  ids: readonly string[],
  slots?: Slots,
): Promise<Claim & { toRelease: string[]; forHolder: OpenRow[]; followers: OpenRow[] }> {
  // A second try of the transaction begins without slots.
  slots?.clear()
  const rows = await lockOpen(tx, ids)
  const sorted = await sortMessages(app, tx, rows, slots)
  const { ready, deferred, failed } = sorted
  const granted = await takeQuota(tx, ready, failed)
  const sendable = ready.filter((_, i) => granted[i])
  for (const [i, row] of ready.entries()) if (!granted[i]) failed.push({ row, error: 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED' })
  await endFailed(tx, failed)
  await defer(app, tx, deferred)
  const followers = sortFollowers(sorted, [...sendable, ...failed.map(({ row }) => row)])
  const again = await planFollowers(tx, followers.later)
  const heldAgain = again.held.map(({ row, key }) => ({ row, cause: { key, for: 'release' } as const }))
  const held = [...sorted.held, ...followers.held, ...heldAgain]
  const toRelease = await hold(
    app,
    tx,
    held.map(({ row: { id, instanceId }, cause }) => ({ id, instanceId, ...cause })),
    rows[0]?.now ?? new Date(),
  )
  const later = [...sorted.later, ...again.later]
  await tryLater(app, tx, later)
  // Messages behind one whose outcome stays unknown may leave now.
  toRelease.push(...failed.flatMap(({ row }) => (row.mayHaveLeft ? recipientKey(row) : [])))
  await judgeScheduled(app, tx, sendable)
  return {
    claimed: await lease(app, tx, sendable, slots),
    next: followers.next,
    passed: failed.length + later.length,
    toRelease,
    forHolder: held.flatMap(({ row, cause }) => (cause.for === 'holder' ? row : [])),
    followers: again.later.map(({ row }) => row),
  }
}

/** Fails messages. Those of a campaign that it must not send any more are cancelled in place of that. */
async function endFailed(tx: Sql, failed: Sorted['failed']): Promise<void> {
  const ended = failed.map(({ row, error }) => ({ id: row.id, error, withdrawn: isWithdrawn(row, error) }))
  const failures = await failMessages(
    tx,
    ended.filter(({ withdrawn }) => !withdrawn),
  )
  const cancelled = await withdrawMessages(
    tx,
    ended.filter(({ withdrawn }) => withdrawn),
  )
  await returnQuota(tx, [...failures, ...cancelled])
}

/** Gives each message a job at its time. One that was held is not any more. */
async function tryLater(app: App, tx: Sql, later: Sorted['later']): Promise<void> {
  const heldBefore = later.flatMap(({ row }) => (row.heldBy ? row.id : []))
  if (heldBefore.length > 0) await endHeld(tx, heldBefore)
  await enqueueDispatch(
    app,
    tx,
    later.map(({ row, at }) => dispatchRequest(row, at)),
  )
}

/** The row holds the content of its type, because the message was stored as its type composes it. */
function outgoingOf({ id, attempts, to, type, body, mediaUrl, content, template }: OpenRow): OutgoingMessage {
  return { messageId: id, attempt: attempts + 1, to, type, body, mediaUrl, content, template } as OutgoingMessage
}

/**
 * Reserves quota for messages that hold none yet: scheduled ones. Instant messages took their quota when they were accepted. Locks the rows
 * from which the quota of `failed` comes, too, because the rows of several owners are locked in one order.
 */
async function takeQuota(tx: Sql, rows: readonly OpenRow[], failed: Sorted['failed']): Promise<boolean[]> {
  const asking = rows.filter((row) => !row.counted)
  const returning = failed.flatMap(({ row }) => (row.counted && !row.mayHaveLeft ? row : []))
  const owners = new Set([...asking, ...returning].map(({ ownerId }) => ownerId))
  const requests = [...asking, ...(owners.size > 1 ? returning : [])]
  const answers = await reserveQuota(
    tx,
    requests.map((row) => ({ ownerId: row.ownerId, plan: row.plan, counts: !row.counted })),
  )
  const granted = new Map(asking.map((row, i) => [row.id, answers[i] ?? false]))
  return rows.map((row) => granted.get(row.id) ?? true)
}

/** Judges scheduled messages again as they leave: since they were accepted, others have left or were cancelled. */
async function judgeScheduled(app: App, tx: Sql, rows: readonly OpenRow[]): Promise<void> {
  const scheduled = rows.filter((row) => row.scheduledAt && !row.mayHaveLeft)
  if (scheduled.length === 0) return
  const cache = safetyCache(app)
  const pairs = scheduled.map(({ instanceId, to }) => ({ instanceId, to, again: true }))
  const [{ now, instances }] = await Promise.all([
    readSendingInstances(tx, [...new Set(pairs.map(({ instanceId }) => instanceId))]),
    cache.load(pairs, tx),
  ])
  const leaving = scheduled.flatMap(({ id, to, template, workspaceId, instanceId }) => {
    const instance = instances.get(instanceId)
    return instance ? [{ id, to, template, instance, principal: { workspaceId }, scheduledAt: null }] : []
  })
  const judged = (await markOutsideWindow(app, tx, leaving)).map(({ id, to, instance, outsideWindow }) => {
    const judgement = cache.judgeAgain(instance, to, now)
    return { id, cold: judgement.cold, ...(outsideWindow ? warnOutsideWindow(judgement) : judgement) }
  })
  await storeJudgements(tx, judged)
}

/** Between the statement that reads the time and the one that stores the lease. */
const guardMarginMs = 100

/** Leases messages. Those of slow networks, and those without a job, get a job that checks them when the lease is over. */
async function lease(app: App, tx: Sql, rows: readonly OpenRow[], slots?: Slots): Promise<ClaimedMessage[]> {
  if (rows.length === 0) return []
  const claimed = rows.map((row) => ({
    id: row.id,
    scheduledAt: row.scheduledAt,
    campaignId: row.campaignId,
    token: randomUUID(),
    guardAt: new Date(row.now.getTime() + leaseMs + guardMarginMs),
    guarded: !slots || row.heldBy !== null || inFlight(app).isSlow(row.instanceId),
    workspaceId: row.workspaceId,
    contactId: row.contactId,
    peer: row.peer,
    attempt: row.attempts + 1,
    mayHaveLeft: row.mayHaveLeft,
    provider: row.provider,
    instance: instanceOf(row),
    outgoing: outgoingOf(row),
  }))
  // In one round trip, so that messages of fast networks in this claim do not wait for those of slow ones.
  await Promise.all([
    storeLeases(tx, claimed),
    enqueueDispatch(app, tx, claimed.filter(({ guarded }) => guarded).map(guardRequest)),
  ])
  return claimed
}
