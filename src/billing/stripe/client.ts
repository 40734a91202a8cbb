// The way to Stripe: its official client, with short time-outs, and its failures in our words.
import type { Stripe } from 'stripe'
import type { StripeSettings } from '../../core/config/config.ts'
import { fail } from '../../core/errors.ts'
import type { BillingApp } from '../provider.ts'

export interface StripeAccount {
  stripe: Stripe
  settings: StripeSettings
}

/** For one try, to the end of its answer; there is a second one where the first gets none. */
const timeoutMs = 5_000

const opened = new WeakMap<StripeSettings, Promise<Stripe>>()

/** The client of this gateway's Stripe account; null where none is set up. */
export async function openStripe({ secrets }: Pick<BillingApp, 'secrets'>): Promise<StripeAccount | null> {
  const settings = secrets.stripe
  if (!settings) return null
  let stripe = opened.get(settings)
  if (!stripe) {
    stripe = createClient(settings)
    opened.set(settings, stripe)
  }
  return { stripe: await stripe, settings }
}

/** Loaded where it is needed: it is large, and most gateways do without. */
async function createClient({ secretKey, apiUrl }: StripeSettings): Promise<Stripe> {
  const { Stripe } = await import('stripe')
  const url = new URL(apiUrl ?? 'https://api.stripe.com')
  return new Stripe(secretKey, {
    host: url.hostname,
    port: url.port || (url.protocol === 'http:' ? '80' : '443'),
    protocol: url.protocol === 'http:' ? 'http' : 'https',
    timeout: timeoutMs,
    // Its other client waits for every next byte anew, and so without end for one that drips.
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 1,
    telemetry: false,
  })
}

/** Runs a call of Stripe's. @throws PROVIDER_ERROR whatever is wrong there; the log has what. */
export async function askStripe<T>(app: Pick<BillingApp, 'log'>, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    const { type, code, message, requestId } = error as Record<string, unknown>
    app.log.warn({ type, code, err: message, stripeRequest: requestId }, 'Stripe did not do what was asked')
    return fail('PROVIDER_ERROR', 'Stripe did not do this; nothing was changed here, try again later')
  }
}

/**
 * As {@link askStripe}, about what may be gone: null where Stripe does not know it. `param` is the parameter that names it;
 * without one it is what the path names.
 */
export async function findAtStripe<T>(app: Pick<BillingApp, 'log'>, call: Promise<T>, param?: string): Promise<T | null> {
  const known = call.catch((error: { code?: unknown; param?: unknown }) =>
    error.code === 'resource_missing' && (param === undefined || error.param === param) ? null : Promise.reject(error),
  )
  return await askStripe(app, known)
}

/** The id of what Stripe names by its id or gives whole. */
export function idOf(named: string | { id: string } | null | undefined): string | null {
  return typeof named === 'string' ? named : (named?.id ?? null)
}
