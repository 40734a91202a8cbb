// Defers messages until their instance connects.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { lockDisconnected } from '../../instances/sending.sql.ts'
import { type Dispatchable, dispatchRequest, enqueueDispatch, expiryRequest } from './dispatch-job.ts'
import { markDeferred } from './waiting.sql.ts'

export interface DeferredMessage extends Dispatchable {
  instanceId: string
  /** End of the message's time to live. */
  until: Date
}

/**
 * Defers messages, in the transaction that holds their row locks, and adds a job that expires each. If the instance connected or
 * was deleted in the meantime, adds a dispatch job that runs at once.
 */
export async function defer(app: App, tx: Sql, messages: readonly DeferredMessage[]): Promise<void> {
  if (messages.length === 0) return
  const disconnected = await lockDisconnected(tx, [...new Set(messages.map(({ instanceId }) => instanceId))])
  const deferred = messages.filter(({ instanceId }) => disconnected.has(instanceId))
  const again = messages.filter((message) => !deferred.includes(message))
  await enqueueDispatch(app, tx, [
    ...again.map((message) => dispatchRequest(message)),
    ...deferred.map((message) => expiryRequest(message, message.until)),
  ])
  await markDeferred(
    tx,
    deferred.map(({ id }) => id),
  )
}
