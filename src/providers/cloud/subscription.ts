// Subscription of a business account's webhooks: points them at an instance, or ends them when it leaves the account.
import type { App } from '../../core/app.ts'
import type { ProviderHost } from '../provider.ts'
import { callbackUrlOf, longestCallback } from './callback.ts'
import { endDeparture, readDeparture, readUsers } from './cloud.sql.ts'
import { type GraphAnswer, graph } from './graph.ts'
import { isLater, wordsFor } from './number.ts'
import type { CloudSettings, KnownCloudInstance } from './settings.ts'

export interface Subscription extends Pick<CloudSettings, 'businessAccountId' | 'accessToken' | 'verifyToken'> {
  instanceId: string
}

/** `words` are there if it failed; `later` says that another try may succeed. */
export interface Subscribed {
  words?: string
  later: boolean
}

/** The beginning of the words for a subscription that failed. */
export const unsubscribed = 'the webhooks were not subscribed: '

/**
 * Points the webhooks at an instance. Meta verifies the address before it answers, so the instance must be committed. Does nothing on a
 * server without a public address.
 */
export async function subscribe(
  app: App,
  { instanceId, businessAccountId, accessToken, verifyToken }: Subscription,
): Promise<Subscribed> {
  const address = callbackUrlOf(app.config, instanceId)
  if (address === undefined) return { later: false }
  if (address.length > longestCallback) {
    return { words: `${unsubscribed}its address is longer than ${longestCallback} characters`, later: false }
  }
  const path = `${businessAccountId}/subscribed_apps`
  // Meta overrides the address only of an app that is subscribed already.
  for (const json of [{}, { override_callback_uri: address, verify_token: verifyToken }]) {
    const answer = await graph(app).call({ method: 'POST', path, accessToken, json })
    if (answer.is !== 'done') {
      const words = `${unsubscribed}${wordsFor(answer, [accessToken, verifyToken])}`
      return { words, later: isLater(answer) }
    }
  }
  return { later: false }
}

/**
 * Ends the webhooks of a business account that an instance left. They belong to the whole account: if another instance uses it, they are
 * pointed there. Returns true if Meta has to be asked again later.
 */
export async function depart(app: App, host: ProviderHost<KnownCloudInstance>, instanceId: string): Promise<boolean> {
  const departure = await readDeparture(app.pool, instanceId)
  if (!departure) return false
  const { businessAccountId } = departure
  const accessToken = app.sealer.tryOpen(departure.accessToken)?.toString()
  const [user] = await readUsers(app.pool, businessAccountId)
  let later = false
  if (user !== undefined) later = await pointAt(app, host, user, businessAccountId, accessToken)
  else if (accessToken) {
    const path = `${businessAccountId}/subscribed_apps`
    const answer: GraphAnswer = await graph(app).call({ method: 'DELETE', path, accessToken })
    later = answer.is !== 'done' && isLater(answer)
  }
  if (!later) await endDeparture(app.pool, instanceId, businessAccountId)
  return later
}

/** Tries with the token of the instance that stays, and then with the one that left. */
async function pointAt(
  app: App,
  host: ProviderHost<KnownCloudInstance>,
  instanceId: string,
  businessAccountId: string,
  leaving: string | undefined,
): Promise<boolean> {
  const { accessToken: staying, verifyToken } = (await host.instance(instanceId))?.settings ?? {}
  if (!verifyToken) return false
  let later = false
  for (const accessToken of [staying, leaving]) {
    if (!accessToken) continue
    const subscribed = await subscribe(app, { instanceId, businessAccountId, accessToken, verifyToken })
    if (subscribed.words === undefined) return false
    later ||= subscribed.later
  }
  return later
}
