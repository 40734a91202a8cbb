// Background jobs of Meta's Cloud API: the connections of instances, and rows that expire.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { definePrune } from '../../core/jobs/prune.ts'
import { expiredDepartures } from './cloud.sql.ts'
import { connect, subscribeAgain } from './connect.ts'
import { cloudHost } from './host.ts'
import { enqueueLink, linkJob } from './link-job.ts'
import { expiredUploads } from './media.sql.ts'
import { depart } from './subscription.ts'

const linkImplementation = implementJob(linkJob, { batchSize: 5, workers: 2 }, async (app, jobs) => {
  const results = await Promise.allSettled(jobs.map((job) => run(app, job)))
  return results.map((result) => (result.status === 'rejected' ? (result.reason as Error) : undefined))
})

async function run(
  app: App,
  { id, step, tries }: { id: string; step: 'connect' | 'subscribe' | 'depart'; tries: number },
): Promise<void> {
  if (app.stopping) throw new Error('handed back')
  const host = cloudHost(app)
  if (step === 'connect') await connect(app, host, id, tries)
  else if (step === 'subscribe') await subscribeAgain(app, host, id, tries)
  else if (await depart(app, host, id)) await sqlTransaction(app.pool, (tx) => enqueueLink(app, tx, id, 'depart', tries + 1))
}

export const cloudJobs: readonly JobImplementation[] = [
  linkImplementation,
  definePrune({ name: 'cloud.prune', cron: '37 * * * *' }, expiredUploads, expiredDepartures),
]
