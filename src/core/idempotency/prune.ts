// Deletes expired Idempotency-Keys, so that their results, which may contain keys and secrets, are not stored longer than promised.
import { z } from 'zod'
import type { App } from '../app.ts'
import { defineJob, implementJob, type JobImplementation } from '../jobs/jobs.ts'
import { keptHours } from './idempotency.ts'

const pruneKeysJob = defineJob({
  name: 'idempotency.prune',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '37 * * * *',
})

export const pruneKeysImplementation: JobImplementation = implementJob(
  pruneKeysJob,
  { batchSize: 1, workers: 1 },
  async (app, jobs) => {
    const pruned = await pruneKeys(app)
    if (pruned > 0) app.log.info({ pruned }, 'old Idempotency-Keys deleted')
    return jobs.map(() => undefined)
  },
)

/** Deletes expired keys in chunks, and returns how many. A key that is being reused at the moment is skipped. */
export async function pruneKeys(app: Pick<App, 'pool'>, chunk = 2_000): Promise<number> {
  for (let pruned = 0; ; ) {
    const { rowCount } = await app.pool.query(
      `with old as (
         select "workspaceId", key from idempotency_keys where "createdAt" < now() - make_interval(hours => $2)
         order by "createdAt" limit $1 for update skip locked
       )
       delete from idempotency_keys k using old where k."workspaceId" = old."workspaceId" and k.key = old.key`,
      [chunk, keptHours],
    )
    pruned += rowCount ?? 0
    if ((rowCount ?? 0) < chunk) return pruned
  }
}
