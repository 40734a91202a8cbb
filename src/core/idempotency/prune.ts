// Deletes expired Idempotency-Keys, so that their results, which may contain keys and secrets, are not stored longer than promised.
import { definePrune } from '../jobs/prune.ts'
import { keptHours } from './keys.sql.ts'

export const pruneKeys = definePrune(
  { name: 'idempotency.prune', cron: '37 * * * *' },
  {
    table: 'idempotency_keys',
    where: '"createdAt" < now() - make_interval(hours => $2)',
    values: [keptHours],
    order: '"createdAt"',
    // A request that reuses its key at the moment holds the lock.
    skipLocked: true,
  },
)
