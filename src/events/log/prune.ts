// Deletes expired events. Their webhook deliveries are deleted with them.
import { definePrune } from '../../core/jobs/prune.ts'
import { retentionDays } from './log.ts'

export const pruneEvents = definePrune(
  { name: 'events.prune', cron: '17 * * * *' },
  {
    table: 'events',
    // From the lowest number on, so that the events kept have no gaps.
    where: `seq in (select seq from events order by seq limit $1) and "createdAt" < now() - make_interval(days => $2)`,
    values: [retentionDays],
  },
)
