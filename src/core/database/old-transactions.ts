// Says when a transaction has been open for too long.
import type { OpenTransaction } from './old-transactions.sql.ts'

/** The alert GatewayOldTransaction has the same bound. */
const tooOldMinutes = 15

/** Returns what is well. @throws Error with advice when the oldest transaction is too old. */
export function checkOldest(oldest: OpenTransaction | undefined): string {
  const minutes = Math.floor((oldest?.seconds ?? 0) / 60)
  if (!oldest || minutes < tooOldMinutes) return `none has been open for ${tooOldMinutes} minutes`
  throw new Error(
    `${oldest.holder} has been open for ${minutes} minutes: PostgreSQL removes no dead rows meanwhile, and the gateway gets slower by the minute; end it, or let it read a replica`,
  )
}
