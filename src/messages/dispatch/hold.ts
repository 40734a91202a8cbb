// Holds messages under a key, and notifies the process that can send them.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { notifyOfWaiting } from '../../instances/sending.sql.ts'
import type { ProviderName } from '../../providers/provider.ts'
import { providerOf } from '../../providers/providers.ts'
import { ensureChecks, planCheck } from './hold-job.ts'
import { instanceKey } from './hold-key.ts'
import type { WaitCause } from './wait-causes.ts'
import { markHeld } from './waiting.sql.ts'

export interface HeldMessage extends WaitCause {
  id: string
  instanceId: string
}

/**
 * Holds messages, in the transaction that has their row locks, with one job for each key. Notifies the holders of the connections.
 * Returns the keys whose messages wait for this process, which it is to release after the commit.
 */
export async function hold(app: App, tx: Sql, messages: readonly HeldMessage[], now: Date): Promise<string[]> {
  if (messages.length === 0) return []
  await markHeld(tx, messages)
  const keysFor = (reason: WaitCause['for']) =>
    [...new Set(messages.flatMap((message) => (message.for === reason ? message.key : [])))].sort()
  for (const key of keysFor('hold')) await planCheck(app, tx, key)
  const ours = keysFor('release')
  await ensureChecks(app, tx, [...ours, ...keysFor('holder')], now)
  const awaitingHolder = messages.filter((message) => message.for === 'holder').map(({ instanceId }) => instanceId)
  if (awaitingHolder.length > 0) await notifyOfWaiting(tx, [...new Set(awaitingHolder)], app.node)
  return ours
}

/**
 * Releases messages that are held for the holder of their connection, after the commit, if that is this process by now. A connection that
 * opened before that commit did not find them; one that opens later does.
 */
export function releaseIfOpen(app: App, held: Iterable<{ instanceId: string; provider: ProviderName }>): void {
  for (const { instanceId, provider } of held) {
    if (providerOf(app, provider)?.holds?.(instanceId)) app.signals.emit('held', instanceKey(instanceId), 0)
  }
}
