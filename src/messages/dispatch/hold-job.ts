// The job that checks the held messages of a key: one for each key, never one for each message.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { defineJob, enqueue, enqueueUnder } from '../../core/jobs/jobs.ts'
import { readKey, readWaited } from './holds.sql.ts'

export const holdJob = defineJob({
  name: 'message.hold',
  schema: z.object({ key: z.string() }),
  options: {
    policy: 'short',
    retryLimit: 1000,
    retryDelay: 1,
    heartbeatSeconds: 10,
    expireInSeconds: 60,
    deleteAfterSeconds: 60,
  },
})

/** A process that releases messages by itself, by a timer or as its sends end, does so before the job. */
const headStartMs = 1_000
/** Time between two checks of messages that wait for a slot or for the process that holds the connection. */
const checkAgainMs = 10_000

/** Sets the time of the next check of a key: at the end of its hold, or when the first of its messages expires. Without messages, none. */
export async function planCheck(app: App, tx: Sql, key: string): Promise<void> {
  const { until, oldest, now } = await readKey(tx, key)
  if (!oldest) return
  const end = until ? until.getTime() + headStartMs : now.getTime() + checkAgainMs
  const at = Math.min(end, oldest.getTime() + app.config.messageTtlMs)
  await enqueueUnder(app, tx, holdJob, key, { data: { key }, startAfter: new Date(at) })
}

/** Adds a check of each key, unless one is planned. */
export async function ensureChecks(app: App, tx: Sql, keys: readonly string[], now: Date): Promise<void> {
  const startAfter = new Date(now.getTime() + checkAgainMs)
  await enqueue(
    app,
    tx,
    holdJob,
    keys.map((key) => ({ data: { key }, key, startAfter })),
  )
}

/** Checks at once those of these keys that messages wait under, because the cause of their wait has ended. */
export async function checkNow(app: App, tx: Sql, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  for (const key of await readWaited(tx, keys)) await enqueueUnder(app, tx, holdJob, key, { data: { key } })
}
