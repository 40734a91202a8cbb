// Background jobs of Meta's Cloud API: the connections of instances, and rows that expire.
import type { z } from 'zod'
import type { App } from '../../core/app.ts'
import { implementJob, type JobImplementation, type WorkerShape } from '../../core/jobs/jobs.ts'
import { definePrune } from '../../core/jobs/prune.ts'
import { definePart } from '../../core/part.ts'
import { createTally } from '../../core/tally.ts'
import { connect, subscribeAgain } from './connect.ts'
import { depart } from './depart.ts'
import { expiredDepartures } from './departures.sql.ts'
import { cloudHost } from './host.ts'
import { linkJob } from './link-job.ts'
import { expiredUploads } from './media.sql.ts'

type LinkJob = z.output<typeof linkJob.schema>

/** Most jobs of one workspace at the same time: if Meta answers none of its calls, it has this share of {@link WorkerShape.mostWorkers}. */
const mostOfOne = 2

// One job a worker, so that none waits for the end of a batch.
const shape: WorkerShape = { batchSize: 1, workers: 6, mostWorkers: 200, perGroup: mostOfOne }

const linkImplementation = implementJob(linkJob, shape, async (app, jobs) => {
  const results = await Promise.allSettled(jobs.map((job) => runInTurn(app, job)))
  return results.map((result) => (result.status === 'rejected' ? (result.reason as Error) : undefined))
})

/** The jobs in progress in this process, by workspace. */
const inProgress = definePart(createTally)

/** Workers that fetch at the same moment can take more jobs of a workspace than the limit of the queue; those are handed back. */
async function runInTurn(app: App, job: LinkJob): Promise<void> {
  const { workspaceId = job.id } = job
  const running = inProgress(app)
  if (app.stopping || running.of(workspaceId) >= mostOfOne) throw new Error('handed back')
  running.add(workspaceId, 1)
  try {
    await run(app, job)
  } finally {
    running.add(workspaceId, -1)
  }
}

async function run(app: App, { id, step, tries, left }: LinkJob): Promise<void> {
  const host = cloudHost(app)
  if (step === 'connect') await connect(app, host, id, tries)
  else if (step === 'subscribe') await subscribeAgain(app, host, id, tries)
  else if (left !== undefined) await depart(app, host, { instanceId: id, businessAccountId: left }, tries)
}

export const cloudJobs: readonly JobImplementation[] = [
  linkImplementation,
  definePrune({ name: 'cloud.prune', cron: '37 * * * *' }, expiredUploads, expiredDepartures),
]
