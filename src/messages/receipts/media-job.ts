// Adds the jobs that fetch the files of inbound messages.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { defineJob, enqueue } from '../../core/jobs/jobs.ts'
import type { InboundRow } from './inbound.sql.ts'

/** Tried for about five minutes. */
export const fetchJob = defineJob({
  name: 'messages.fetch',
  schema: z.object({ id: z.string() }),
  options: {
    retryLimit: 6,
    retryDelay: 4,
    retryBackoff: true,
    heartbeatSeconds: 10,
    expireInSeconds: 120,
    deleteAfterSeconds: 60,
  },
})

/** In the transaction that stores the messages. */
export async function fetchLater(app: Pick<App, 'boss'>, tx: Sql, rows: readonly InboundRow[]): Promise<void> {
  const awaiting = rows.filter(({ awaitsFile }) => awaitsFile)
  await enqueue(
    app,
    tx,
    fetchJob,
    awaiting.map(({ id, instanceId }) => ({ data: { id }, group: instanceId })),
  )
}
