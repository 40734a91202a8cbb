// Subscription of a business account's webhooks: points them at an instance.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { delayOf } from '../../core/jobs/jobs.ts'
import { callbackUrlOf, longestCallback } from './callback.ts'
import { lockUse } from './cloud.sql.ts'
import { addDeparture, endDeparture, hastenDeparture, type Pointing } from './departures.sql.ts'
import { type GraphAnswer, graph, longestCallMs } from './graph.ts'
import { enqueueDeparture } from './link-job.ts'
import { isLater, unknownAccount, wordsFor } from './number.ts'
import { isWrongProof, proofOf, wrongAppSecret } from './proof.ts'
import type { CloudSettings } from './settings.ts'

export interface Subscription extends Pointing, Pick<CloudSettings, 'accessToken' | 'verifyToken'> {
  /** Left out if the token may be of another app. */
  appSecret?: string
}

/** `words` are there if it failed; `later` says that another try may succeed; `noAccess` that the token has no say over the account. */
export interface Subscribed {
  words?: string
  later: boolean
  noAccess?: boolean
}

/** The beginning of the words for a subscription that failed. */
export const unsubscribed = 'the webhooks were not subscribed: '

/** Both calls, and some time to begin them. */
const subscribeMs = 2 * longestCallMs + 5_000

/**
 * Points the webhooks at an instance; the caller confirms in a transaction what became of it ({@link confirm}). Should the process die before
 * that, a job ends the webhooks unless the instance uses the account. Meta verifies the address before it answers, so the instance must be
 * committed. Does nothing on a server without a public address.
 */
export async function subscribe(app: App, subscription: Subscription): Promise<Subscribed> {
  const { instanceId, businessAccountId, accessToken, verifyToken, appSecret } = subscription
  const address = callbackUrlOf(app.config, instanceId)
  if (address === undefined) return { later: false }
  if (address.length > longestCallback) {
    return { words: `${unsubscribed}its address is longer than ${longestCallback} characters`, later: false }
  }
  await sqlTransaction(app.pool, async (tx) => {
    await addDeparture(tx, subscription, app.sealer.seal(accessToken), subscribeMs)
    await enqueueDeparture(app, tx, subscription, { startAfter: delayOf(subscribeMs) })
  })
  const query = appSecret === undefined ? {} : proofOf(accessToken, appSecret)
  const call = (json: object) =>
    graph(app).call({ method: 'POST', path: `${businessAccountId}/subscribed_apps`, query, accessToken, json })
  // Meta overrides the address only of an app that is subscribed already.
  const first = await call({})
  if (first.is !== 'done')
    return { ...failed(subscription, first, unknownAccount), noAccess: first.is === 'error' && !isLater(first) }
  const second = await call({ override_callback_uri: address, verify_token: verifyToken })
  return second.is === 'done' ? { later: false } : failed(subscription, second)
}

/** `unknown` are the words before those of Meta for an object that it does not know. */
function failed(
  { accessToken, verifyToken }: Subscription,
  answer: Exclude<GraphAnswer, { is: 'done' }>,
  unknown?: string,
): Subscribed {
  const words = isWrongProof(answer) ? wrongAppSecret : wordsFor(answer, [accessToken, verifyToken], unknown)
  return { words: `${unsubscribed}${words}`, later: isLater(answer) }
}

/** After {@link subscribe}, in any transaction: if the instance has left the account meanwhile, its webhooks end. */
export async function confirm(app: App, tx: Sql, pointing: Pointing): Promise<void> {
  if (await lockUse(tx, pointing.instanceId, pointing.businessAccountId)) return await endDeparture(tx, pointing)
  await hastenDeparture(tx, pointing)
  await enqueueDeparture(app, tx, pointing)
}
