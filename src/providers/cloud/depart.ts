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
import { confirm, subscribe } from './subscription.ts'

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

/**
 * Points the webhooks at an instance that uses the account: with its own token, or with that of the instance which left, if both belong to
 * one workspace. Anybody can name an account, so an instance whose token has no say over it does not count.
 */
async function handOver(
  app: App,
  host: Host,
  { instanceId: leaving, businessAccountId }: Departure,
  accessToken: string | undefined,
): Promise<'done' | 'later' | 'nobody'> {
  for (const { id, isSister } of await readUsers(app.pool, businessAccountId, leaving)) {
    const { accessToken: own, verifyToken } = (await host.instance(id))?.settings ?? {}
    if (!verifyToken) continue
    for (const token of new Set([own, isSister ? accessToken : undefined])) {
      if (!token) continue
      const pointing = { instanceId: id, businessAccountId }
      const { later, noAccess } = await subscribe(app, { ...pointing, accessToken: token, verifyToken })
      await sqlTransaction(app.pool, (tx) => confirm(app, tx, pointing))
      if (later) return 'later'
      if (!noAccess) return 'done'
    }
  }
  return 'nobody'
}
