// Worker jobs of webhooks: deliveries, and the deletion of expired ones.
import { implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { deliveriesOf, deliverJob } from './deliver-job.ts'
import { deliveryQueues } from './delivery-queues.ts'
import { fanOutImplementation } from './fan-out.ts'
import { pruneDeliveries } from './prune.ts'
import { redeliveryImplementation } from './redelivery.ts'

export const webhookJobs: JobImplementation[] = [
  // A job is done once its delivery is leased or waits in its queue, so no batch waits for a receiver.
  implementJob(deliverJob, { batchSize: 20, workers: 2 }, async (app, jobs) => {
    await deliveryQueues(app).take(jobs.flatMap(deliveriesOf))
    return jobs.map(() => undefined)
  }),
  fanOutImplementation,
  redeliveryImplementation,
  pruneDeliveries,
]
