// Deletes expired events.
import { definePrune, type Pruned } from '../../core/jobs/prune.ts'
import { retentionDays, spareDays } from './log.ts'
import { dropPartition, isExpired, readPartitions } from './partitions.sql.ts'

const keptDays = retentionDays + spareDays

export const pruneEvents = definePrune(
  { name: 'events.prune', cron: '17 * * * *', before: dropExpired },
  {
    table: 'events',
    key: 'seq',
    // A partition that holds the events of a day or less is dropped before this deletes any of them. From the lowest number on, so that the
    // events kept have no gaps.
    where: `seq in (select seq from events order by seq limit $1) and "createdAt" < now() - make_interval(days => $2)`,
    values: [keptDays + 1],
  },
)

/** Drops the oldest partitions whose events have all expired. */
async function dropExpired({ pool, log }: Pruned): Promise<void> {
  for (const partition of await readPartitions(pool)) {
    if (!(await isExpired(pool, partition, keptDays))) return
    await dropPartition(pool, partition)
    log.info({ partition: partition.name }, 'expired events dropped')
  }
}
