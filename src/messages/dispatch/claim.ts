// Claims due messages for sending under a lease with a fencing token. Fails, defers or reschedules the rest of the batch.
import { randomUUID } from 'node:crypto'
import { reserveQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { readSendingInstances } from '../../instances/sending.sql.ts'
import type { OutgoingMessage, ProviderName, StoredInstance } from '../../providers/provider.ts'
import { providerOf } from '../../providers/providers.ts'
import { readOutside, warnOutside } from '../safety/free-window.ts'
import { type Decision, decide, followDelayMs, leaseMs, type OpenMessage } from '../safety/policy.ts'
import { safetyBook } from '../safety/safety.ts'
import { lockOpen, type OpenRow, storeJudgements, storeLease } from './claim.sql.ts'
import { defer, type WaitingMessage } from './defer.ts'
import { dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import { failMessages } from './fail.ts'
import { isWithdrawn, refusedToLeave } from './leaving.ts'
import { withdrawMessages } from './withdraw.ts'

export interface ClaimedMessage {
  id: string
  token: string
  attempt: number
  /** True if an earlier attempt may have reached the network. */
  mayHaveLeft: boolean
  provider: ProviderName
  instance: StoredInstance
  outgoing: OutgoingMessage
}

/** `claimed`: the messages to send now. `next`: the ids of messages to the same recipients, in order, to claim after those. */
export interface Claim {
  claimed: ClaimedMessage[]
  next: string[]
}

/** Decides for each message and applies the decision. Returns the messages to send now and those to claim next. */
export async function claimMessages(app: App, ids: readonly string[]): Promise<Claim> {
  const claim = await sqlTransaction(app.pool, async (tx) => {
    const rows = await lockOpen(tx, ids)
    const ready: OpenRow[] = []
    const waiting: WaitingMessage[] = []
    const following: OpenRow[] = []
    const failed: { row: OpenRow; error: string }[] = []
    const later: { row: OpenRow; at: Date }[] = []
    const decisions = rows.map((row) => decide(withProvider(app, row), row.now, app.config.messageTtlMs))
    const asked = rows.filter((_, i) => decisions[i]?.do === 'send' || decisions[i]?.do === 'wait')
    const refused = await refusedToLeave(tx, asked)
    for (const [i, row] of rows.entries()) {
      const error = refused.get(row.id)
      const decision: Decision = error ? { do: 'fail', error } : (decisions[i] as Decision)
      if (decision.do === 'send') ready.push(row)
      if (decision.do === 'wait') waiting.push({ ...row, until: decision.until })
      if (decision.do === 'follow') following.push(row)
      if (decision.do === 'fail') failed.push({ row, error: decision.error })
      if (decision.do === 'later') later.push({ row, at: decision.at })
    }
    const granted = await takeQuota(tx, ready)
    const sendable = ready.filter((row, i) => {
      if (!granted[i]) failed.push({ row, error: 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED' })
      return granted[i]
    })
    const ended = failed.map(({ row, error }) => ({ id: row.id, error, withdrawn: isWithdrawn(row, error) }))
    await failMessages(
      tx,
      ended.filter(({ withdrawn }) => !withdrawn),
    )
    await withdrawMessages(
      tx,
      ended.filter(({ withdrawn }) => withdrawn),
    )
    await defer(app, tx, waiting)
    const leaving = new Set([...sendable, ...failed.map(({ row }) => row)].map(recipientOf))
    const next = following.filter((row) => leaving.has(recipientOf(row)))
    later.push(...lookAgain(following.filter((row) => !leaving.has(recipientOf(row)))))
    await enqueueDispatch(
      app,
      tx,
      later.map(({ row, at }) => dispatchRequest(row, at)),
    )
    await judgeScheduled(app, tx, sendable)
    return { claimed: await lease(tx, sendable), next: next.map((row) => row.id) }
  })
  app.signals.emit('outbox')
  return claim
}

function recipientOf(row: OpenRow): string {
  return `${row.instanceId} ${row.peer}`
}

/** Reschedules messages that wait behind others to the same recipient. Staggered times keep a long queue from waking all at once. */
function lookAgain(rows: readonly OpenRow[]): { row: OpenRow; at: Date }[] {
  const lines = new Map<string, number>()
  return rows.map((row) => {
    const n = lines.get(recipientOf(row)) ?? 0
    lines.set(recipientOf(row), n + 1)
    return { row, at: new Date(row.now.getTime() + followDelayMs(n)) }
  })
}

function withProvider(app: App, row: OpenRow): OpenMessage {
  const provider = providerOf(app, row.provider)
  const instance = instanceOf(row)
  return {
    ...row,
    // A process without this provider treats the instance as disconnected, so its messages wait for a process that has the provider.
    instanceConnected: row.instanceConnected && provider !== undefined,
    sendsOnce: provider?.sendsOnce(instance) ?? false,
    reconcileMs: provider?.reconcileMs ?? 0,
  }
}

/** The row holds the content of its type, because the message was stored as its type composes it. */
function outgoingOf({ id, attempts, to, type, body, mediaUrl, content, template }: OpenRow): OutgoingMessage {
  return { reference: id, attempt: attempts + 1, to, type, body, mediaUrl, content, template } as OutgoingMessage
}

function instanceOf({ instanceId: id, waNumber, settings, credentials }: OpenRow): StoredInstance {
  return { id, waNumber, settings, credentials }
}

/** Reserves quota for messages that hold none yet: scheduled ones. Instant messages took their quota when they were accepted. */
async function takeQuota(tx: Sql, rows: readonly OpenRow[]): Promise<boolean[]> {
  const asking = rows.filter((row) => !row.counted)
  const answers = await reserveQuota(
    tx,
    asking.map((row) => ({ ownerId: row.ownerId, plan: row.plan, counts: true })),
  )
  const granted = new Map(asking.map((row, i) => [row.id, answers[i] ?? false]))
  return rows.map((row) => granted.get(row.id) ?? true)
}

/** Judges scheduled messages again as they leave: since they were accepted, others have left or were cancelled. */
async function judgeScheduled(app: App, tx: Sql, rows: readonly OpenRow[]): Promise<void> {
  const scheduled = rows.filter((row) => row.scheduledAt && !row.mayHaveLeft)
  if (scheduled.length === 0) return
  const book = safetyBook(app)
  const pairs = scheduled.map(({ instanceId, to }) => ({ instanceId, to }))
  const [{ now, instances }] = await Promise.all([
    readSendingInstances(tx, [...new Set(pairs.map(({ instanceId }) => instanceId))]),
    book.load(pairs, tx),
  ])
  const leaving = scheduled.flatMap(({ id, to, template, workspaceId, instanceId }) => {
    const instance = instances.get(instanceId)
    return instance ? [{ id, to, template, instance, principal: { workspaceId }, scheduledAt: null }] : []
  })
  const judged = (await readOutside(app, tx, leaving)).map(({ id, to, instance, outside }) => {
    const judgement = book.judgeAgain(instance, to, now)
    return { id, ...(outside ? warnOutside(judgement) : judgement) }
  })
  await storeJudgements(tx, judged)
}

async function lease(tx: Sql, rows: readonly OpenRow[]): Promise<ClaimedMessage[]> {
  if (rows.length === 0) return []
  const token = randomUUID()
  await storeLease(
    tx,
    rows.map((row) => row.id),
    token,
    leaseMs,
  )
  return rows.map((row) => ({
    id: row.id,
    token,
    attempt: row.attempts + 1,
    mayHaveLeft: row.mayHaveLeft,
    provider: row.provider,
    instance: instanceOf(row),
    outgoing: outgoingOf(row),
  }))
}
