// Claims due messages for sending under a lease with a fencing token. Fails, defers or reschedules the rest of the batch.
import { randomUUID } from 'node:crypto'
import { thisMonth } from '../../billing/admission/period.ts'
import { reserveQuota } from '../../billing/admission/quota.ts'
import { planInForceSql } from '../../billing/plans.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { OutgoingMessage, ProviderName, StoredInstance } from '../../providers/provider.ts'
import { providerOf } from '../../providers/providers.ts'
import { decide, followDelayMs, leaseMs, type OpenMessage } from '../safety/policy.ts'
import { defer, type WaitingMessage } from './defer.ts'
import { dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import { failMessages } from './fail.ts'

export interface ClaimedMessage {
  id: string
  token: string
  attempt: number
  provider: ProviderName
  instance: StoredInstance
  outgoing: OutgoingMessage
}

/** `claimed`: the messages to send now. `next`: the ids of messages to the same recipients, in order, to claim after those. */
export interface Claim {
  claimed: ClaimedMessage[]
  next: string[]
}

interface Row extends Omit<OpenMessage, 'sendsOnce' | 'reconcileMs'> {
  id: string
  instanceId: string
  peer: string
  to: string
  type: OutgoingMessage['type']
  body: string
  mediaUrl: string | null
  content: OutgoingMessage['content']
  campaignId: string | null
  scheduledAt: Date | null
  attempts: number
  counted: boolean
  provider: ProviderName
  settings: unknown
  credentials: StoredInstance['credentials']
  waNumber: string | null
  ownerId: string
  plan: string
  now: Date
}

/** Decides for each message and applies the decision. Returns the messages to send now and those to claim next. */
export async function claimMessages(app: App, ids: readonly string[]): Promise<Claim> {
  const claim = await sqlTransaction(app.pool, async (tx) => {
    const rows = await readOpen(tx, ids)
    const ready: Row[] = []
    const waiting: WaitingMessage[] = []
    const following: Row[] = []
    const failed: { row: Row; error: string }[] = []
    const later: { row: Row; at: Date }[] = []
    for (const row of rows) {
      const decision = decide(withProvider(app, row), row.now, app.config.messageTtlMs)
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
    await failMessages(
      tx,
      failed.map(({ row, error }) => ({ id: row.id, error })),
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
    return { claimed: await lease(tx, sendable), next: next.map((row) => row.id) }
  })
  app.signals.emit('outbox')
  return claim
}

function recipientOf(row: Row): string {
  return `${row.instanceId} ${row.peer}`
}

/** Reschedules messages that wait behind others to the same recipient. Staggered times keep a long queue from waking all at once. */
function lookAgain(rows: readonly Row[]): { row: Row; at: Date }[] {
  const lines = new Map<string, number>()
  return rows.map((row) => {
    const n = lines.get(recipientOf(row)) ?? 0
    lines.set(recipientOf(row), n + 1)
    return { row, at: new Date(row.now.getTime() + followDelayMs(n)) }
  })
}

const planInForce = planInForceSql('s')

async function readOpen(tx: Sql, ids: readonly string[]): Promise<Row[]> {
  const { rows } = await tx.query<Row>({
    name: 'messages.claim.read',
    text: `select m.id, m."instanceId", m.peer, m."to", m.type, m.body, m."mediaUrl", m.content, m."campaignId", m."scheduledAt", m.status,
        m."dueAt", m."nextAttemptAt", m."leaseToken", m."leaseUntil", m."acceptedAt", m.attempts, m."countedPeriod" is not null as counted,
        i.provider, i.settings, i.credentials, i."waNumber", i."deletedAt" is not null as "instanceDeleted", i.status = 'connected' as "instanceConnected",
        w."ownerId", ${planInForce} as plan,
        exists (
          select 1 from messages e where e."instanceId" = m."instanceId" and e.peer = m.peer and e.direction = 'outbound'
            and e.status in ('queued', 'sending') and e."acceptedAt" is null and e."dueAt" <= now() and (e."dueAt", e.id) < (m."dueAt", m.id)
        ) as blocked,
        now() as now
      from messages m
      join instances i on i.id = m."instanceId"
      join workspaces w on w.id = m."workspaceId"
      join subscriptions s on s."userId" = w."ownerId"
      where m.id = any($1::uuid[]) order by m.id for update of m`,
    values: [ids],
  })
  return rows
}

function withProvider(app: App, row: Row): OpenMessage {
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
function outgoingOf({ id, to, type, body, mediaUrl, content }: Row): OutgoingMessage {
  return { reference: id, to, type, body, mediaUrl, content } as OutgoingMessage
}

function instanceOf({ instanceId: id, waNumber, settings, credentials }: Row): StoredInstance {
  return { id, waNumber, settings, credentials }
}

/** Reserves quota for messages that hold none yet: scheduled ones. Instant messages took their quota when they were accepted. */
async function takeQuota(tx: Sql, rows: readonly Row[]): Promise<boolean[]> {
  const asking = rows.filter((row) => !row.counted)
  const answers = await reserveQuota(
    tx,
    asking.map((row) => ({ ownerId: row.ownerId, plan: row.plan, counts: true })),
  )
  const granted = new Map(asking.map((row, i) => [row.id, answers[i] ?? false]))
  return rows.map((row) => granted.get(row.id) ?? true)
}

async function lease(tx: Sql, rows: readonly Row[]): Promise<ClaimedMessage[]> {
  if (rows.length === 0) return []
  const token = randomUUID()
  await tx.query({
    name: 'messages.claim.lease',
    text: `update messages set status = 'sending', "leaseToken" = $2, "leaseUntil" = clock_timestamp() + $3 * interval '1 millisecond',
        attempts = attempts + 1, "waitingSince" = null, "nextAttemptAt" = null, "updatedAt" = now(),
        "countedPeriod" = coalesce("countedPeriod", ${thisMonth})
      where id = any($1::uuid[])`,
    values: [rows.map((row) => row.id), token, leaseMs],
  })
  return rows.map((row) => ({
    id: row.id,
    token,
    attempt: row.attempts + 1,
    provider: row.provider,
    instance: instanceOf(row),
    outgoing: outgoingOf(row),
  }))
}
