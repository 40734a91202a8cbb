// Lets campaigns that send nothing at the moment take back the messages that the network gave back.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { enqueueStep } from './campaign-job.ts'
import { readStates } from './campaigns.sql.ts'
import { isStopped } from './policy.ts'
import { quietHoursOf, quietUntil } from './quiet-hours.ts'

/** Implements `Hooks.enqueueTakeBack`. */
export async function enqueueTakeBack(app: App, tx: Sql, campaignIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (campaignIds.length === 0) return new Set()
  const states = await readStates(tx, [...new Set(campaignIds)])
  const stopped = states.filter((state) => isStopped(state) || quietUntil(quietHoursOf(state.quietHours), state.now))
  for (const { id } of stopped) await enqueueStep(app, tx, id)
  return new Set(stopped.map(({ id }) => id))
}
