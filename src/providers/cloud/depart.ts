// Ends the webhooks of a business account that an instance left, or points them at another instance that uses it.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { ProviderHost } from '../provider.ts'
import { readUsers } from './cloud.sql.ts'
import { addDeparture, type Departure, endDeparture, type Pointing, readDeparture } from './departures.sql.ts'
import { graph } from './graph.ts'
import { enqueueDeparture } from './link-job.ts'
import { isLater } from './number.ts'
import type { KnownCloudInstance } from './settings.ts'
import { confirm, type Subscription, subscribe } from './subscription.ts'

type Host = ProviderHost<KnownCloudInstance>

/** Ends the webhooks after the commit of `tx`, also if the instance is deleted or has no token any more by then. */
export async function leave(app: App, tx: Sql, pointing: Pointing, accessToken: string): Promise<void> {
  await addDeparture(tx, pointing, app.sealer.seal(accessToken))
  await enqueueDeparture(app, tx, pointing)
}

/** One attempt. If Meta cannot be reached or asks to try again, the next one is enqueued. */
export async function depart(app: App, host: Host, pointing: Pointing, tries: number): Promise<void> {
  const departure = await readDeparture(app.pool, pointing)
  if (!departure) return
  const { dueAt, isDue, createdAt } = departure
  if (!isDue) return await sqlTransaction(app.pool, (tx) => enqueueDeparture(app, tx, pointing, { startAfter: dueAt }))
  if (await end(app, host, departure)) await endDeparture(app.pool, pointing, createdAt)
  else await sqlTransaction(app.pool, (tx) => enqueueDeparture(app, tx, pointing, { tries: tries + 1 }))
}

/** Webhooks belong to the whole account, so they end only if no other instance uses it. Returns false if Meta has to be asked again. */
async function end(app: App, host: Host, departure: Departure): Promise<boolean> {
  const { businessAccountId } = departure
  const accessToken = app.sealer.tryOpen(departure.accessToken)?.toString()
  const handed = await handOver(app, host, departure, accessToken)
  if (handed !== 'nobody' || !accessToken) return handed !== 'later'
  const answer = await graph(app).call({ method: 'DELETE', path: `${businessAccountId}/subscribed_apps`, accessToken })
  // An instance that came to the account during the call may have subscribed before the webhooks ended.
  const since = await handOver(app, host, departure, accessToken)
  return since === 'nobody' ? answer.is === 'done' || !isLater(answer) : since === 'done'
}

/** Instances that are looked at together. Anybody can name an account, so there may be many of them. */
const atOnce = 10

/**
 * Points the webhooks at an instance that uses the account: with its own token, or with that of the instance which left, if both belong to
 * one workspace. An instance whose token has no say over the account does not count.
 */
async function handOver(
  app: App,
  host: Host,
  { instanceId: leaving, businessAccountId }: Departure,
  accessToken: string | undefined,
): Promise<'done' | 'later' | 'nobody'> {
  const users = await readUsers(app.pool, businessAccountId, leaving)
  for (let from = 0; from < users.length; from += atOnce) {
    const some = users.slice(from, from + atOnce)
    const able = await Promise.all(
      some.map(async ({ id, isSister }): Promise<Subscription[]> => {
        const { accessToken: own, verifyToken } = (await host.instance(id))?.settings ?? {}
        if (!verifyToken) return []
        const tokens = await withSay(app, businessAccountId, [own, isSister ? accessToken : undefined])
        return tokens.map((token) => ({ instanceId: id, businessAccountId, accessToken: token, verifyToken }))
      }),
    )
    for (const subscription of able.flat()) {
      const { later, noAccess } = await subscribe(app, subscription)
      await sqlTransaction(app.pool, (tx) => confirm(app, tx, subscription))
      if (later) return 'later'
      if (!noAccess) return 'done'
    }
  }
  return 'nobody'
}

/** Those of the tokens that have a say over a business account, or may have it. */
async function withSay(app: App, businessAccountId: string, tokens: readonly (string | undefined)[]): Promise<string[]> {
  const asked = [...new Set(tokens)].map(async (accessToken) => {
    if (!accessToken) return []
    const answer = await graph(app).call({ method: 'GET', path: `${businessAccountId}/subscribed_apps`, accessToken })
    return answer.is === 'error' && !isLater(answer) ? [] : [accessToken]
  })
  return (await Promise.all(asked)).flat()
}
