// Dispatches due messages: claims them, sends them to their provider, and settles the outcomes.

import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { implementJob, type JobImplementation, type WorkerShape } from '../../core/jobs/jobs.ts'
import { definePart } from '../../core/part.ts'
import { traced } from '../../core/trace.ts'
import type { SendOutcome } from '../../providers/provider.ts'
import { providerOf } from '../../providers/providers.ts'
import { leaseMs, sendTimeoutMs } from '../safety/policy.ts'
import { type ClaimedMessage, claimMessages } from './claim.ts'
import { campaignDispatchJob, dispatchJob } from './dispatch-job.ts'
import { type Settlement, settleAll } from './settle.ts'

/** Stores the outcome of one attempt, in a group commit. */
export const settlement = definePart(createSettlement)

/** Last time this process had a message to send that belongs to no campaign, by `performance.now()`. */
export const lastInstant = definePart(() => ({ at: Number.NEGATIVE_INFINITY }))

function createSettlement(app: App): (settlement: Settlement) => Promise<undefined> {
  return createBatch<Settlement, undefined>({
    max: 200,
    parallel: 2,
    run: async (settlements) => {
      await settleAll(app, settlements)
      return settlements.map(() => undefined)
    },
  })
}

/** Longest time that one batch may spend on its turns. All jobs of a batch complete together, at its end. */
const turnsMs = 5_000

export const dispatchImplementations: readonly JobImplementation[] = [
  dispatch(dispatchJob, { batchSize: 100, workers: 3 }),
  // Small batches and few workers, because messages of other callers wait for the campaign work in progress.
  dispatch(campaignDispatchJob, { batchSize: 50, workers: 2 }),
]

function dispatch(definition: typeof dispatchJob, shape: WorkerShape): JobImplementation {
  return implementJob(definition, shape, async (app, jobs) => {
    if (definition === dispatchJob) lastInstant(app).at = performance.now()
    const failed = new Map<string, Error>()
    const startedAt = performance.now()
    // Messages to one recipient are sent one after another. Those behind another message of this batch wait for the next turn.
    let turn = jobs.map((job) => job.id)
    while (turn.length > 0) {
      const claimedAt = performance.now()
      if (app.stopping || claimedAt - startedAt > turnsMs) {
        for (const id of turn) failed.set(id, new Error('handed back'))
        break
      }
      const { claimed, next } = await claimMessages(app, turn)
      await app.failpoint('send.after_claim')
      const results = await Promise.allSettled(claimed.map((message) => attempt(app, message, claimedAt)))
      for (const [i, result] of results.entries()) {
        if (result.status === 'rejected') failed.set((claimed[i] as ClaimedMessage).id, result.reason as Error)
      }
      turn = next
    }
    await app.failpoint('send.after_commit_before_ack')
    return jobs.map((job) => failed.get(job.id))
  })
}

async function attempt(app: App, message: ClaimedMessage, claimedAt: number): Promise<void> {
  await app.failpoint('send.before_provider')
  // A process that was suspended may have lost its lease. It has not sent the message, so it gives the lease back if it still holds it.
  const late = performance.now() - claimedAt > leaseMs - 1_000
  const outcome: SendOutcome = late ? { outcome: 'retry', error: 'LEASE_LOST', afterMs: 0 } : await send(app, message)
  await app.failpoint('send.after_provider_accept')
  await app.failpoint('send.before_commit')
  await settlement(app)({ message, outcome })
}

async function send(app: App, message: ClaimedMessage): Promise<SendOutcome> {
  const provider = providerOf(app, message.provider)
  if (!provider) return { outcome: 'retry', error: 'PROVIDER_ERROR' }
  const end = app.metrics.sendSeconds.startTimer({ provider: message.provider })
  const late = Promise.withResolvers<SendOutcome>()
  const timer = setTimeout(() => late.resolve({ outcome: 'unknown', error: 'PROVIDER_TIMEOUT' }), sendTimeoutMs)
  try {
    const outcome = await traced('message.send', { 'message.id': message.id, provider: message.provider }, () =>
      Promise.race([provider.send(message.instance, message.outgoing), late.promise]),
    )
    end({ outcome: outcome.outcome })
    return outcome
  } catch (error) {
    // An unexpected error may have occurred after the provider accepted the message, so the outcome is unknown.
    app.log.warn({ messageId: message.id, err: (error as Error).message }, 'a send to the provider failed')
    end({ outcome: 'unknown' })
    return { outcome: 'unknown', error: 'PROVIDER_ERROR' }
  } finally {
    clearTimeout(timer)
  }
}
