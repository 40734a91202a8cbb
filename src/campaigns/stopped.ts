// Finds the campaigns that send nothing at the moment, for messages of theirs that the network gave back.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { wake } from './campaign-job.ts'
import { readCourses } from './campaigns.sql.ts'
import { isStopped } from './policy.ts'
import { quietHoursOf, quietUntil } from './quiet-hours.ts'

/** Implements `Hooks.stoppedCampaigns`. */
export async function stoppedCampaigns(app: App, tx: Sql, campaignIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (campaignIds.length === 0) return new Set()
  const courses = await readCourses(tx, [...new Set(campaignIds)])
  const stopped = courses.filter((course) => isStopped(course) || quietUntil(quietHoursOf(course.quietHours), course.now))
  for (const { id } of stopped) await wake(app, tx, id)
  return new Set(stopped.map(({ id }) => id))
}
