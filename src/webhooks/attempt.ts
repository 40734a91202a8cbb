// One delivery attempt: signs the event's own bytes, posts them once and judges the response.
import type { App } from '../core/app.ts'
import { traced } from '../core/trace.ts'
import type { ClaimedDelivery } from './claim.sql.ts'
import { judge, type Verdict } from './policy.ts'
import { previousSecretsAt } from './previous-secrets.ts'
import { signedHeaders } from './sign.ts'

/** An attempt as the log of the delivery shows it. */
export interface Attempt {
  verdict: Verdict
  at: Date
  durationMs: number
  /** Null if the request could not be signed. */
  headers: Record<string, string> | null
  /** The beginning of the answer's body; null without an answer. */
  answer: string | null
}

/**
 * Makes the attempt. Every outcome is returned as a verdict.
 * @throws Error when a failpoint throws.
 */
export async function attempt(app: App, delivery: ClaimedDelivery, signal: AbortSignal): Promise<Attempt> {
  const { endpointId, eventId, type, url } = delivery
  const secret = app.sealer.tryOpen(delivery.secret)
  // The next attempt succeeds if the right SECRET_KEY is back by then.
  if (!secret) {
    app.log.error(
      { endpointId },
      'the secret of an endpoint was sealed under another SECRET_KEY; put that back, or rotate the secret',
    )
    app.metrics.webhookAttempts.inc({ outcome: 'secret_unreadable' })
    const verdict = judge({ outcome: 'error', reason: 'secret_unreadable' })
    return { verdict, at: new Date(), durationMs: 0, headers: null, answer: null }
  }
  const body = Buffer.from(delivery.body)
  const signable = { eventId, type, body, at: new Date() }
  const previous = delivery.previousSecret && app.sealer.tryOpen(delivery.previousSecret)
  const earlier = previous ? previousSecretsAt(previous.toString(), signable.at) : []
  const headers = signedHeaders(signable, secret.toString(), earlier)
  await app.failpoint('hook.before_post')
  const begin = performance.now()
  const outcome = await traced('webhook.attempt', { 'event.id': eventId, 'event.type': type }, () =>
    app.egress.post(url, { headers, body, timeoutMs: app.config.webhookTimeoutMs, signal }),
  )
  const durationMs = Math.round(performance.now() - begin)
  const verdict = judge(outcome)
  app.metrics.webhookAttempts.inc({ outcome: verdict.error ?? 'delivered' })
  if (verdict.delivered) await app.failpoint('hook.after_2xx_before_commit')
  return { verdict, at: signable.at, durationMs, headers, answer: outcome.outcome === 'response' ? textOf(outcome.start) : null }
}

/** The bytes as text that PostgreSQL can store. A character that was cut off at the end is left out. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
}
