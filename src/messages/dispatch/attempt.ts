// One attempt to send a claimed message: hands it to its provider, and settles the outcome.
import type { App } from '../../core/app.ts'
import { untilStored } from '../../core/database/until-stored.ts'
import { traced } from '../../core/trace.ts'
import type { SendOutcome } from '../../providers/outgoing.ts'
import { providerOf } from '../../providers/providers.ts'
import type { ClaimedMessage } from './claim.ts'
import { inFlight } from './in-flight.ts'
import { leaseMs, sendTimeoutMs } from './policy.ts'
import { settlement } from './settle.ts'

/** `claimedAt` is the time before the claim, by `performance.now()`. */
export async function attempt(app: App, message: ClaimedMessage, claimedAt: number): Promise<void> {
  await app.failpoint('send.before_provider')
  // A process that was suspended may have lost its lease. It has not sent the message, so it gives the lease back if it still holds it.
  const late = performance.now() - claimedAt > leaseMs - 1_000
  const outcome: SendOutcome = late
    ? { outcome: 'retry', error: 'LEASE_LOST', afterMs: 0 }
    : await inFlight(app).run(message.instance.id, () => send(app, message))
  await app.failpoint('send.after_provider_accept')
  await app.failpoint('send.before_commit')
  // The outcome waits until the database takes it. If it were lost, a message that did not leave would end as UNKNOWN_OUTCOME.
  await untilStored(app, () => settlement(app)({ message, outcome }))
  await app.failpoint('send.after_commit_before_ack')
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
