// Settles send outcomes: writes them only while the lease of the attempt still holds (fencing token).
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import { createBatch, runApartOnFailure } from '../../core/batch.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { definePart } from '../../core/part.ts'
import { notifyOfWaiting, readSendingInstances } from '../../instances/sending.sql.ts'
import { applyChange } from '../../instances/state.ts'
import type { Hold, SendOutcome } from '../../providers/outgoing.ts'
import type { ProviderName } from '../../providers/provider.ts'
import type { ClaimedMessage } from './claim.ts'
import { dispatchRequest, dropGuards, enqueueDispatch } from './dispatch-job.ts'
import type { Failing } from './fail.sql.ts'
import { failMessages } from './fail.ts'
import { releaseIfOpen } from './hold.ts'
import { planCheck } from './hold-job.ts'
import { holdKey } from './hold-key.ts'
import { storeHolds } from './holds.sql.ts'
import { endOf, retryDelayMs } from './policy.ts'
import { releaseUnsent } from './release-unsent.ts'
import { type Released, readLeased, storeAccepted } from './settle.sql.ts'
import { markHeld } from './waiting.sql.ts'

export interface Settlement {
  message: ClaimedMessage
  outcome: SendOutcome
}

interface Retry {
  message: ClaimedMessage
  delayMs: number
  /** True if the attempt counts towards the limit of attempts. */
  counts: boolean
  /** The network asked to wait with this message and others. */
  holds?: Hold
}

/** A message to try later, which is held. */
interface Held {
  id: string
  key: string
  ms: number
  holds: Hold
  instanceId: string
  provider: ProviderName
}

/** Stores the outcome of one attempt, in a group commit. */
export const settlement = definePart(createSettlement)

function createSettlement(app: App): (settlement: Settlement) => Promise<undefined> {
  return createBatch<Settlement, undefined>({
    max: 200,
    parallel: 2,
    run: (all) =>
      runApartOnFailure(all, async (settlements) => {
        await settleAll(app, settlements)
        return settlements.map(() => undefined)
      }),
  })
}

/** Commits outcomes in one transaction. Skips those whose lease was lost, and counts them in the `fencedWrites` metric. */
async function settleAll(app: App, settlements: readonly Settlement[]): Promise<void> {
  const { settled, holds, forHolder } = await sqlTransaction(app.pool, async (tx) => {
    // A fixed lock order prevents deadlocks between two settlements.
    const list = [...settlements].sort((a, b) => (a.message.id < b.message.id ? -1 : 1))
    const { failing, retries } = sortOut(list)
    // Instances are locked before their messages, as by everything else that locks both.
    await restrict(app, tx, list)
    const failed = await failMessages(tx, failing)
    const accepted = await accept(tx, list)
    const { count, released, withdrawn } = await releaseUnsent(
      app,
      tx,
      retries.map(({ message, delayMs, counts }) => ({ ...message, delayMs, counts })),
    )
    // In one step, after all messages are locked and before the jobs of holds: the order of a claim.
    await returnQuota(tx, [...failed, ...withdrawn])
    const retried = await retryLater(app, tx, retries, released)
    await checkLater(app, tx, list)
    const guarded = list.flatMap(({ message }) => (message.guarded ? message : []))
    if (guarded.length > 0) await dropGuards(app, tx, guarded)
    const unknown = list.filter(({ outcome }) => outcome.outcome === 'unknown').length
    return { ...retried, settled: failed.length + accepted + count + unknown }
  })
  for (const { key, ms } of holds) app.signals.emit('held', key, ms)
  releaseIfOpen(app, forHolder)
  if (settled < settlements.length) app.metrics.fencedWrites.inc(settlements.length - settled)
  app.signals.emit('outbox')
}

/** The messages that fail and those that are tried later. */
function sortOut(list: readonly Settlement[]): { failing: Failing[]; retries: Retry[] } {
  const failing: Failing[] = []
  const retries: Retry[] = []
  for (const { message, outcome } of list) {
    if (outcome.outcome !== 'refused' && outcome.outcome !== 'retry') continue
    const { id, token } = message
    const { error, detail } = outcome
    if (outcome.outcome === 'refused') {
      const { mayHaveLeft } = message
      failing.push({ id, token, mayHaveLeft, error: outcome.byGateway ? endOf(message, error) : error, detail })
      continue
    }
    const mayHaveLeft = message.mayHaveLeft || outcome.mayHaveLeft === true
    const counts = !outcome.offline && !outcome.holds
    const delayMs = retryDelayMs(counts ? message.attempt : 1, outcome.afterMs)
    if (delayMs === null) failing.push({ id, token, mayHaveLeft, error: endOf({ mayHaveLeft }, error), detail })
    else retries.push({ message: { ...message, mayHaveLeft }, delayMs, counts, holds: outcome.holds })
  }
  return { failing, retries }
}

/** Notes the instances whose account the network restricts. */
async function restrict(app: App, tx: Sql, list: readonly Settlement[]): Promise<void> {
  const errors = new Map<string, string>()
  for (const { message, outcome } of list) {
    if (outcome.outcome === 'refused' && outcome.restricted) errors.set(message.instance.id, outcome.detail ?? outcome.error)
  }
  for (const [instanceId, error] of [...errors].sort()) {
    await applyChange(app, tx, { instanceId, restricted: true, atRisk: true, error })
  }
}

async function accept(tx: Sql, list: readonly Settlement[]): Promise<number> {
  const accepted = list.flatMap(({ message, outcome }) => (outcome.outcome === 'accepted' ? [{ message, outcome }] : []))
  if (accepted.length === 0) return 0
  return await storeAccepted(
    tx,
    accepted.map(({ message, outcome }) => ({ ...message, providerMessageId: outcome.providerMessageId })),
  )
}

function addressed({ workspaceId, instance, peer, provider }: ClaimedMessage) {
  return { workspaceId, instanceId: instance.id, peer, provider }
}

interface Retried {
  holds: { key: string; ms: number }[]
  /** The messages that wait for the holder of their connection. */
  forHolder: Held[]
}

/** Adds jobs for the next attempts. Messages with `holds` are held under their key instead, unless their instance was deleted. */
async function retryLater(app: App, tx: Sql, retries: readonly Retry[], released: readonly Released[]): Promise<Retried> {
  if (released.length === 0) return { holds: [], forHolder: [] }
  const byId = new Map(retries.map((retry) => [retry.message.id, retry]))
  const { instances } = await readSendingInstances(tx, [...new Set(retries.map(({ message }) => message.instance.id))])
  // The deletion of an instance releases what waits for it, but not these. Their jobs fail them now.
  const isOrphan = (id: string) => instances.get((byId.get(id) as Retry).message.instance.id)?.deletedAt != null
  await enqueueDispatch(
    app,
    tx,
    released.flatMap((row) => {
      if (isOrphan(row.id)) return dispatchRequest(row)
      return byId.get(row.id)?.holds ? [] : dispatchRequest(row, row.nextAttemptAt)
    }),
  )
  const held = released.flatMap(({ id }): Held[] => {
    const { message, holds, delayMs: ms } = byId.get(id) as Retry
    if (!holds || isOrphan(id)) return []
    const at = addressed(message)
    return [{ id, key: holdKey(holds, at), ms, holds, ...at }]
  })
  const forHolder = held.filter(({ holds }) => holds.of === 'connection')
  return { holds: await holdRetries(app, tx, held, forHolder), forHolder }
}

/** Holds messages under their keys, and stores the holds. Returns the holds. Messages that wait for a holder have none. */
async function holdRetries(
  app: App,
  tx: Sql,
  held: readonly Held[],
  forHolder: readonly Held[],
): Promise<{ key: string; ms: number }[]> {
  if (held.length === 0) return []
  const longest = new Map<string, number>()
  for (const { key, ms, holds } of held) if (holds.of !== 'connection') longest.set(key, Math.max(ms, longest.get(key) ?? 0))
  const holds = [...longest].map(([key, ms]) => ({ key, ms })).sort((a, b) => (a.key < b.key ? -1 : 1))
  await markHeld(tx, held)
  if (holds.length > 0) await storeHolds(tx, holds)
  for (const key of [...new Set(held.map(({ key }) => key))].sort()) await planCheck(app, tx, key)
  if (forHolder.length > 0) await notifyOfWaiting(tx, [...new Set(forHolder.map(({ instanceId }) => instanceId))], app.node)
  return holds
}

/** An unknown outcome keeps its lease. A job checks the message again when the lease has expired. */
async function checkLater(app: App, tx: Sql, list: readonly Settlement[]): Promise<void> {
  const unknown = list.filter(({ outcome }) => outcome.outcome === 'unknown').map(({ message }) => message.id)
  if (unknown.length === 0) return
  const leased = await readLeased(tx, unknown)
  await enqueueDispatch(
    app,
    tx,
    leased.map((row) => dispatchRequest(row, row.leaseUntil)),
  )
}
