// Ends cancelled plans when their time has come, and fits the resources of owners to plans that became smaller. Every process with the worker
// role checks every few seconds, by partial indexes.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { nilId } from '../core/id.ts'
import { fitPlan } from './fit-plan.ts'
import { endPeriods } from './jobs.ts'
import { isSweepDue, readUnfit } from './subscriptions.sql.ts'

const everyMs = 5_000
const atOnce = 200

export function startPlanSweep(app: App): AsyncDisposable {
  const stopping = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    let after = nilId
    while (!stopping.signal.aborted) {
      after = await sweep(app, after).catch((error: Error) => {
        app.log.warn({ err: error.message }, 'plans could not be swept')
        return nilId
      })
      await pause(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}

/** Ends plans, then fits the next owners, in turn. Returns where the next turn begins. */
async function sweep(app: App, after: string): Promise<string> {
  if (!(await isSweepDue(app.pool))) return nilId
  const ended = await endPeriods(app.pool)
  if (ended > 0) app.log.info({ ended }, 'ended subscriptions are now on the Free plan')
  const userIds = await readUnfit(app.pool, after, atOnce)
  for (const userId of userIds) {
    await fitPlan(app, userId).catch((err: Error) =>
      app.log.warn({ err, userId }, 'a plan could not be fitted; the next sweep retries it'),
    )
  }
  return userIds.length === atOnce ? (userIds.at(-1) as string) : nilId
}
