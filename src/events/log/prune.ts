// Deletes expired events. They stay a day longer than promised, because deliveries of webhooks read their payloads, and are younger.
import { definePrune, type Pruned } from '../../core/jobs/prune.ts'
import { retentionDays } from './log.ts'
import { dropPartition, isExpired, readPartitions } from './partitions.sql.ts'

const keptDays = retentionDays + 1

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
