// Finds the causes for which due messages are held: a hold, another process, or the sends of their instance in progress.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { providerOf } from '../../providers/providers.ts'
import { instanceOf } from '../instance-of.ts'
import type { OpenRow } from './claim.sql.ts'
import { accountKey, instanceKey, recipientKey } from './hold-key.ts'
import { readHolds } from './holds.sql.ts'
import type { Slots } from './in-flight.ts'
import { readFirsts, recipientOf } from './lines.sql.ts'
import { followDelayMs, leaseMs } from './policy.ts'

export interface WaitCause {
  /** The key under which the message is held. */
  key: string
  /**
   * `hold`: the network asked to wait. `holder`: another process sends, the one with the connection or, while an upgrade is under way, one that
   * knows the network. `release`: this process releases it, when its instance has fewer sends in progress, or when the message before it may leave.
   */
  for: 'hold' | 'holder' | 'release'
}

/** Returns the cause of each wait by the id of the message. A message that is not in the result may leave, and has taken one of `slots`. */
export async function readWaitCauses(
  app: App,
  tx: Sql,
  rows: readonly OpenRow[],
  slots?: Slots,
): Promise<Map<string, WaitCause>> {
  const keys = new Map(rows.map((row) => [row.id, keysOf(app, row)]))
  const holds = rows.length > 0 ? await readHolds(tx, [...new Set([...keys.values()].flat())]) : new Map()
  const causes = new Map<string, WaitCause>()
  for (const row of rows) {
    const held = keys.get(row.id)?.find((key) => holds.has(key))
    const key = instanceKey(row.instanceId)
    const provider = providerOf(app, row.provider)
    if (held) causes.set(row.id, { key: held, for: 'hold' })
    else if (!provider || provider.holds?.(row.instanceId) === false) causes.set(row.id, { key, for: 'holder' })
    else if (!row.blocked && slots?.take(row.instanceId) === false) causes.set(row.id, { key, for: 'release' })
  }
  return causes
}

function keysOf(app: App, row: OpenRow): string[] {
  const account = providerOf(app, row.provider)?.accountOf?.(instanceOf(row))
  return [instanceKey(row.instanceId), recipientKey(row), ...(account ? [accountKey(row, account)] : [])]
}

/**
 * Decides when followers are claimed again. If the first of their line is held, they are held under its key; while only a receipt can tell
 * its outcome, they are held under the key of their recipient. Otherwise they are claimed when it may be tried, or in growing intervals
 * while the network has it. Staggered times keep the jobs of a long line from starting all at once.
 */
export async function planFollowers(
  tx: Sql,
  rows: readonly OpenRow[],
): Promise<{ later: { row: OpenRow; at: Date }[]; held: { row: OpenRow; key: string }[] }> {
  const firsts = new Map(rows.length > 0 ? (await readFirsts(tx, rows)).map((found) => [recipientOf(found), found]) : [])
  const lines = new Map<string, number>()
  const later: { row: OpenRow; at: Date }[] = []
  const held: { row: OpenRow; key: string }[] = []
  for (const row of rows) {
    const recipient = recipientOf(row)
    const first = firsts.get(recipient)
    const n = lines.get(recipient) ?? 0
    lines.set(recipient, n + 1)
    const from = Math.max(row.now.getTime(), first?.nextAttemptAt?.getTime() ?? 0)
    const leasedForMs = first?.leasedForMs ?? 0
    if (first?.heldBy) held.push({ row, key: first.heldBy })
    else if (leasedForMs > leaseMs) held.push({ row, key: recipientKey(row) })
    else later.push({ row, at: new Date(from + followDelayMs(n, leasedForMs, first?.open)) })
  }
  return { later, held }
}
