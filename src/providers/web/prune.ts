// Deletes what the connections of WhatsApp Web keep for a time: answers about numbers, numbered options, and calls whose caller died.
import { definePrune } from '../../core/jobs/prune.ts'

export const pruneWeb = definePrune(
  { name: 'web.prune', cron: '23 * * * *' },
  // Messages go on to the address that the network named.
  { table: 'web_numbers', where: `"checkedAt" < now() - interval '7 days' and address is null` },
  { table: 'web_options', where: `"sentAt" < now() - interval '7 days'` },
  { table: 'web_calls', where: `"createdAt" < now() - interval '1 hour'` },
)
