// A worker for test jobs: good ones, ones that throw, ones that block the event loop. It notes every attempt and its end.
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { openApp } from '../../src/app.ts'
import type { App } from '../../src/core/app.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { defineJob, implementJob } from '../../src/core/jobs/jobs.ts'
import { makeQueues, workOn } from '../../src/core/jobs/work.ts'

/** A blocking job blocks at its first attempt, or at each attempt. */
export type Kind = 'good' | 'throws' | 'blocks once' | 'blocks'

const data = z.object({ id: z.string(), kind: z.enum(['good', 'throws', 'blocks once', 'blocks']) })

export const retryLimit = 2
export const blockedMs = 30_000

/** Tried three times. */
export const mixedJob = defineJob({
  name: 'test.mixed',
  schema: data,
  options: { retryLimit, heartbeatSeconds: 10 },
})
/** Tried once. */
export const onceJob = defineJob({
  name: 'test.once',
  schema: data,
  options: { retryLimit: 0, heartbeatSeconds: 10 },
})

export const jobs = [mixedJob, onceJob].map((definition) =>
  implementJob(definition, { batchSize: 50, workers: 2 }, work, async (app, { id }) => {
    await note(app, 'given up', id)
  }),
)

/** Processes a batch as a whole, like operations on sets: one job that throws makes the whole batch fail. */
async function work(app: App, batch: readonly z.output<typeof data>[]): Promise<undefined[]> {
  for (const { id, kind } of batch) {
    const tries = await note(app, 'tried', id)
    if (kind === 'blocks' || (kind === 'blocks once' && tries === 1)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockedMs)
    }
  }
  for (const { kind } of batch) if (kind === 'throws') throw new Error('poison')
  for (const { id } of batch) await note(app, 'done', id)
  return batch.map(() => undefined)
}

/** Records a note, and returns how often it was recorded for the job. */
async function note(app: App, what: string, id: string): Promise<number> {
  const { rows } = await app.pool.query<{ n: number }>(
    `with noted as (insert into notes (what, id, pid) values ($1, $2, $3))
     select count(*)::int + 1 as n from notes where what = $1 and id = $2`,
    [what, id, process.pid],
  )
  return rows[0]?.n as number
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { config, secrets } = readConfig()
  const app = await openApp({ config, secrets, databaseUrl: config.databaseUrl as string })
  await app.boss.start()
  await makeQueues(app, jobs)
  const working = await workOn(app, jobs)
  console.log('working')
  process.on('SIGTERM', async () => {
    await working[Symbol.asyncDispose]()
    await app[Symbol.asyncDispose]()
  })
}
