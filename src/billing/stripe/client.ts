// Stripe's official client with short timeouts, and its errors as error codes of the API.
import type { Stripe } from 'stripe'
import type { Secrets, StripeSettings } from '../../core/config/config.ts'
import { fail } from '../../core/errors.ts'
import type { BillingApp } from '../provider.ts'

export interface StripeAccount {
  stripe: Stripe
  settings: StripeSettings
}

/** Time limit for one attempt, until the end of its response. There is one retry if an attempt gets no response. */
const timeoutMs = 5_000

const opened = new WeakMap<StripeSettings, Promise<Stripe>>()

/** Returns the client of this gateway's Stripe account; null if none is configured. */
export async function openStripe({ secrets }: { secrets: Pick<Secrets, 'stripe'> }): Promise<StripeAccount | null> {
  const settings = secrets.stripe
  if (!settings) return null
  let stripe = opened.get(settings)
  if (!stripe) {
    stripe = createClient(settings)
    opened.set(settings, stripe)
  }
  return { stripe: await stripe, settings }
}

/** Loads the client on first use: it is large, and most gateways do not need it. */
async function createClient({ secretKey, apiUrl }: StripeSettings): Promise<Stripe> {
  const { Stripe } = await import('stripe')
  const url = new URL(apiUrl ?? 'https://api.stripe.com')
  return new Stripe(secretKey, {
    host: url.hostname,
    port: url.port || (url.protocol === 'http:' ? '80' : '443'),
    protocol: url.protocol === 'http:' ? 'http' : 'https',
    timeout: timeoutMs,
    // Stripe's other HTTP client restarts its timeout with every byte, so a server that sends single bytes slowly would hold it forever.
    httpClient: Stripe.createFetchHttpClient(),
    maxNetworkRetries: 1,
    telemetry: false,
  })
}

/** Awaits a call to Stripe. @throws PROVIDER_ERROR when the call fails for any reason; the log has the reason. */
export async function callStripe<T>(app: Pick<BillingApp, 'log'>, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    const { type, code, message, requestId } = error as Record<string, unknown>
    app.log.warn({ type, code, err: message, stripeRequest: requestId }, 'Stripe refused the request')
    return fail('PROVIDER_ERROR', 'Stripe did not complete the request. Nothing was changed; try again later')
  }
}

/**
 * {@link callStripe} for a resource that may be deleted: returns null if Stripe does not know it. `param` is the parameter that names the
 * resource; without `param` the path names it.
 */
export async function findAtStripe<T>(app: Pick<BillingApp, 'log'>, call: Promise<T>, param?: string): Promise<T | null> {
  const known = call.catch((error: { code?: unknown; param?: unknown }) =>
    error.code === 'resource_missing' && (param === undefined || error.param === param) ? null : Promise.reject(error),
  )
  return await callStripe(app, known)
}

/** Returns the id of a field that Stripe sends either as an id or as a whole object. */
export function idOf(named: string | { id: string } | null | undefined): string | null {
  return typeof named === 'string' ? named : (named?.id ?? null)
}
