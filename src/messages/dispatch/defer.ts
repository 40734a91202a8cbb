// Messages begin to wait for their instance.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import type { ProviderName } from '../../providers/provider.ts'
import { type Dispatchable, dispatchRequest, enqueueDispatch, expiryRequest } from './dispatch-job.ts'

export interface WaitingMessage extends Dispatchable {
  instanceId: string
  provider: ProviderName
  /** The end of its time. */
  until: Date
}

/**
 * Lets messages wait, in the transaction that holds their rows, with a job for the end of their time. If the instance
 * connected or was deleted a moment ago, their jobs come up again at once.
 */
export async function defer(app: App, tx: Sql, messages: readonly WaitingMessage[]): Promise<void> {
  if (messages.length === 0) return
  const { rows: present } = await tx.query<{ id: string }>(
    `select id from (select id, status, "deletedAt" from instances where id = any($1::uuid[]) order by id for share) i
     where status <> 'connected' and "deletedAt" is null`,
    [[...new Set(messages.map(({ instanceId }) => instanceId))]],
  )
  const away = new Set(present.map((row) => row.id))
  const deferred = messages.filter(({ instanceId, provider }) => away.has(instanceId) || !app.providers.has(provider))
  const again = messages.filter((message) => !deferred.includes(message))
  await enqueueDispatch(app, tx, [
    ...again.map((message) => dispatchRequest(message)),
    ...deferred.map((message) => expiryRequest(message, message.until)),
  ])
  await tx.query('update messages set "waitingSince" = coalesce("waitingSince", now()) where id = any($1::uuid[])', [
    deferred.map(({ id }) => id),
  ])
}
