// Lets messages wait under a key, and wakes the process that can send them.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { notifyHolders } from '../../instances/sending.sql.ts'
import { ensureChecks, planCheck } from './hold-job.ts'
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
  if (elsewhere.length > 0) await notifyHolders(tx, [...new Set(elsewhere)])
  return slots
}
