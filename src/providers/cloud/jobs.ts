// Background jobs of Meta's Cloud API: the connections of instances, and rows that expire.
import type { z } from 'zod'
import type { App } from '../../core/app.ts'
import { implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { definePrune } from '../../core/jobs/prune.ts'
import { connect, subscribeAgain } from './connect.ts'
import { depart } from './depart.ts'
import { expiredDepartures } from './departures.sql.ts'
import { cloudHost } from './host.ts'
import { linkJob } from './link-job.ts'
import { expiredUploads } from './media.sql.ts'

const linkImplementation = implementJob(linkJob, { batchSize: 5, workers: 2 }, async (app, jobs) => {
  const results = await Promise.allSettled(jobs.map((job) => run(app, job)))
  return results.map((result) => (result.status === 'rejected' ? (result.reason as Error) : undefined))
})

async function run(app: App, { id, step, tries, left }: z.output<typeof linkJob.schema>): Promise<void> {
  if (app.stopping) throw new Error('handed back')
  const host = cloudHost(app)
  if (step === 'connect') await connect(app, host, id, tries)
  else if (step === 'subscribe') await subscribeAgain(app, host, id, tries)
  else if (left !== undefined) await depart(app, host, { instanceId: id, businessAccountId: left }, tries)
}

export const cloudJobs: readonly JobImplementation[] = [
  linkImplementation,
  definePrune({ name: 'cloud.prune', cron: '37 * * * *' }, expiredUploads, expiredDepartures),
]
