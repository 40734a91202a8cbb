// Retention: defines the scheduled jobs that delete expired rows. Each domain declares which rows of its tables expire.
import type { App } from '../app.ts'
import { type JobDefinition, type JobImplementation, scheduleJob } from './jobs.ts'
import { deleteBatch, type ExpiredRows } from './prune.sql.ts'

export interface PruneDefinition extends Pick<JobDefinition<object>, 'name' | 'options'> {
  cron: string
  /** Runs before the first deletion. */
  before?: (app: Pruned) => Promise<unknown>
}

/** A job that deletes expired rows. `prune` runs it now and returns how many rows it deleted, from all its tables. */
export interface PruneJob extends JobImplementation {
  prune: (app: Pruned, batch?: number) => Promise<number>
}

export type Pruned = Pick<App, 'pool' | 'log' | 'stopping'>

/** Rows per statement. Each statement is a transaction of its own, so this bounds how long it holds its locks. */
const deletedAtOnce = 2_000

/** Defines the job that deletes the expired rows of these tables by the clock, one table after the other. */
export function definePrune({ name, cron, options, before }: PruneDefinition, ...tables: readonly ExpiredRows[]): PruneJob {
  const prune = async (app: Pruned, batch = deletedAtOnce) => {
    await before?.(app)
    let pruned = 0
    for (const rows of tables) pruned += await deleteExpired(app, rows, batch)
    return pruned
  }
  const scheduled = { name, cron, options: { retryLimit: 2, expireInSeconds: 600, ...options } }
  return { ...scheduleJob(scheduled, (app) => prune(app)), prune }
}

async function deleteExpired(app: Pruned, rows: ExpiredRows, batch: number): Promise<number> {
  for (let pruned = 0; ; ) {
    const deleted = await deleteBatch(app.pool, rows, batch)
    pruned += deleted
    // The next run goes on where a stop ended this one.
    if (deleted === batch && !app.stopping) continue
    if (pruned > 0) app.log.info({ table: rows.table, pruned }, 'expired rows deleted')
    return pruned
  }
}
