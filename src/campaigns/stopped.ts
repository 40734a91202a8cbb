// Wakes campaigns that send nothing at the moment, to take back messages that the network gave back.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { wake } from './campaign-job.ts'
import { readStates } from './campaigns.sql.ts'
import { isStopped } from './policy.ts'
import { quietHoursOf, quietUntil } from './quiet-hours.ts'

/** Implements `Hooks.wakeStopped`. */
export async function wakeStopped(app: App, tx: Sql, campaignIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (campaignIds.length === 0) return new Set()
  const states = await readStates(tx, [...new Set(campaignIds)])
  const stopped = states.filter((state) => isStopped(state) || quietUntil(quietHoursOf(state.quietHours), state.now))
  for (const { id } of stopped) await wake(app, tx, id)
  return new Set(stopped.map(({ id }) => id))
}
