// Deletes expired deliveries with their attempts, jobs that redelivered, deleted endpoints without deliveries, and previous secrets that are no longer used.
import { definePrune } from '../core/jobs/prune.ts'
import { deletePreviousSecrets } from './endpoints.sql.ts'
import { retentionDays } from './policy.ts'

export const pruneDeliveries = definePrune(
  {
    name: 'webhook.prune',
    cron: '17 * * * *',
    options: { retryLimit: 3, deleteAfterSeconds: 3600 },
    // The secret expires, but its row stays, so this cannot be a delete.
    before: ({ pool }) => deletePreviousSecrets(pool),
  },
  {
    table: 'webhook_deliveries',
    where: '"createdAt" < now() - make_interval(days => $2)',
    values: [retentionDays],
    order: '"createdAt"',
  },
  { table: 'webhook_redeliveries', where: '"completedAt" < now() - make_interval(days => $2)', values: [retentionDays] },
  {
    table: 'webhook_endpoints',
    where: `"deletedAt" < now() - make_interval(days => $2)
      and not exists (select from webhook_deliveries d where d."endpointId" = webhook_endpoints.id)`,
    values: [retentionDays],
  },
)
