// Deletes expired bulk jobs. An unfinished one stays.
import { definePrune } from '../core/jobs/prune.ts'

/** How long a bulk job is kept after its end. */
export const keptForDays = 30

export const pruneBulkJobs = definePrune(
  { name: 'contacts.prune', cron: '47 * * * *' },
  { table: 'bulk_jobs', where: '"completedAt" < now() - make_interval(days => $2)', values: [keptForDays] },
)
