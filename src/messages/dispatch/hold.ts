// Lets messages wait under a key, and wakes the process that can send them.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { notifyOfWaiting } from '../../instances/sending.sql.ts'
import type { ProviderName } from '../../providers/provider.ts'
import { providerOf } from '../../providers/providers.ts'
import { ensureChecks, planCheck } from './hold-job.ts'
import { instanceKey } from './hold-key.ts'
import { markHeld } from './holds.sql.ts'
import type { WaitCause } from './wait-causes.ts'

export interface HeldMessage extends WaitCause {
  id: string
  instanceId: string
}

/**
 * Marks messages as waiting, in the transaction that holds their row locks, with one job for each key. Notifies the processes that hold the
 * connections. Returns the keys whose messages wait for this process, which it is to release after the commit.
 */
export async function hold(app: App, tx: Sql, messages: readonly HeldMessage[], now: Date): Promise<string[]> {
  if (messages.length === 0) return []
  await markHeld(tx, messages)
  const keysFor = (reason: WaitCause['for']) =>
    [...new Set(messages.flatMap((message) => (message.for === reason ? message.key : [])))].sort()
  for (const key of keysFor('hold')) await planCheck(app, tx, key)
  const slots = keysFor('slot')
  await ensureChecks(app, tx, [...slots, ...keysFor('holder')], now)
  const elsewhere = messages.filter((message) => message.for === 'holder').map(({ instanceId }) => instanceId)
  if (elsewhere.length > 0) await notifyOfWaiting(tx, [...new Set(elsewhere)], app.node)
  return slots
}

/**
 * Releases messages that wait for a connection, after the commit that marked them, if this process holds it by now. A connection that opened
 * before that commit did not find them; one that opens later does.
 */
export function releaseIfOpen(app: App, waiting: Iterable<{ instanceId: string; provider: ProviderName }>): void {
  for (const { instanceId, provider } of waiting) {
    if (providerOf(app, provider)?.holds?.(instanceId)) app.signals.emit('held', instanceKey(instanceId), 0)
  }
}
