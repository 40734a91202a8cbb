// Dispatch: jobs of due messages become offers to their providers, and each outcome is settled as it comes.
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { implementJob, type JobImplementation, type WorkerShape } from '../../core/jobs/jobs.ts'
import { traced } from '../../core/trace.ts'
import { providerOf, type SendOutcome } from '../../providers/provider.ts'
import { leaseMs, sendTimeoutMs } from '../safety/policy.ts'
import { type ClaimedMessage, claimMessages } from './claim.ts'
import { campaignDispatchJob, dispatchJob } from './dispatch-job.ts'
import { type Settlement, settleAll } from './settle.ts'

declare module '../../core/app.ts' {
  interface App {
    settle: (settlement: Settlement) => Promise<undefined>
    /** When this process last had something to send that is no campaign's, by the clock of `performance.now()`. */
    instantAt: number
  }
}

export function createSettlement(app: App): App['settle'] {
  return createBatch<Settlement, undefined>({
    max: 200,
    parallel: 2,
    run: async (settlements) => {
      await settleAll(app, settlements)
      return settlements.map(() => undefined)
    },
  })
}

/** How long one batch may go on taking turns; its other jobs are not done before it ends. */
const turnsMs = 5_000

export const dispatchImplementations: readonly JobImplementation[] = [
  dispatch(dispatchJob, { batchSize: 100, workers: 3 }),
  // Few and small: what is done for a campaign at a time is what somebody else's message may meet.
  dispatch(campaignDispatchJob, { batchSize: 50, workers: 2 }),
]

function dispatch(definition: typeof dispatchJob, shape: WorkerShape): JobImplementation {
  return implementJob(definition, shape, async (app, jobs) => {
    if (definition === dispatchJob) app.instantAt = performance.now()
    const failed = new Map<string, Error>()
    const startedAt = performance.now()
    // Messages to one recipient leave one after the other; those behind another of this batch take the next turn.
    let turn = jobs.map((job) => job.id)
    while (turn.length > 0) {
      const claimedAt = performance.now()
      if (app.stopping || claimedAt - startedAt > turnsMs) {
        for (const id of turn) failed.set(id, new Error('handed back'))
        break
      }
      const { claimed, next } = await claimMessages(app, turn)
      await app.failpoint('send.after_claim')
      const results = await Promise.allSettled(claimed.map((message) => offer(app, message, claimedAt)))
      for (const [i, result] of results.entries()) {
        if (result.status === 'rejected') failed.set((claimed[i] as ClaimedMessage).id, result.reason as Error)
      }
      turn = next
    }
    await app.failpoint('send.after_commit_before_ack')
    return jobs.map((job) => failed.get(job.id))
  })
}

async function offer(app: App, message: ClaimedMessage, claimedAt: number): Promise<void> {
  await app.failpoint('send.before_provider')
  // A process that was frozen may have lost its lease. It has not offered the message, so it gives it back, if it still can.
  const late = performance.now() - claimedAt > leaseMs - 1_000
  const outcome: SendOutcome = late ? { outcome: 'retry', error: 'LEASE_LOST', afterMs: 0 } : await send(app, message)
  await app.failpoint('send.after_provider_accept')
  await app.failpoint('send.before_commit')
  await app.settle({ message, outcome })
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
    // What a provider does not explain may have happened after it took the message.
    app.log.warn({ messageId: message.id, err: (error as Error).message }, 'provider send broke off')
    end({ outcome: 'unknown' })
    return { outcome: 'unknown', error: 'PROVIDER_ERROR' }
  } finally {
    clearTimeout(timer)
  }
}
