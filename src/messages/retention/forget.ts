// Erases the results of requests whose messages have expired. A result is kept longer than a short retention keeps its message.
import type { App } from '../../core/app.ts'
import { forgetResults } from '../../core/idempotency/forget.ts'
import { keptHours, withStoredKeys } from '../../core/idempotency/keys.sql.ts'
import { scheduleJob } from '../../core/jobs/jobs.ts'
import { readShort, readStored } from './retention.sql.ts'

// Every result of these workspaces is opened, so not with every sweep.
export const forgetImplementation = scheduleJob({ name: 'messages.forget', cron: '*/10 * * * *' }, forgetExpired)

/** Erases them in the workspaces whose messages expire before results do. */
export async function forgetExpired(app: App): Promise<void> {
  const short = await readShort(app.pool, app.config.retentionDaysMessages, keptHours / 24)
  for (const workspaceId of await withStoredKeys(app.pool, short)) {
    if (app.stopping) return
    // Only messages have this field.
    await forgetResults(app, workspaceId, 'peer', (records) => expired(app, records))
  }
}

async function expired(app: App, records: readonly { id?: string; peer?: string }[]): Promise<object[]> {
  const messages = records.filter(({ id, peer }) => id !== undefined && peer !== undefined)
  const stored = await readStored(
    app.pool,
    messages.map(({ id }) => id as string),
  )
  return messages.filter(({ id }) => !stored.has(id as string))
}
