// Ends cancelled plans when their time has come, and fits the resources of owners to plans that became smaller. Every process with the worker
// role checks every few seconds, by partial indexes.
import type pg from 'pg'
import type { App } from '../core/app.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { nilId } from '../core/id.ts'
import { startLoop, wait } from '../core/loop.ts'
import { findChanged, fitPlan } from './fit-plan.ts'
import { freeSince, storeSubscription } from './subscription.ts'
import { isSweepDue, lockEnded, readFallen, readResting } from './subscriptions.sql.ts'

const everyMs = 5_000
const atOnce = 1_000

export function startPlanSweep(app: App): AsyncDisposable {
  return startLoop(async (stop) => {
    let after = nilId
    while (!stop.aborted) {
      after = await sweep(app, after).catch((error: Error) => {
        app.log.warn({ err: error.message }, 'plans could not be swept')
        return nilId
      })
      await wait(everyMs, stop)
    }
  })
}

/**
 * Ends plans and fits all that fell. Then looks for room for what rests, of the next {@link atOnce} owners. Returns where the next turn begins.
 */
async function sweep(app: App, after: string): Promise<string> {
  if (!(await isSweepDue(app.pool))) return nilId
  const ended = await endPeriods(app.pool)
  if (ended > 0) app.log.info({ ended }, 'ended subscriptions are now on the Free plan')
  await fitFallen(app)
  const resting = await readResting(app.pool, after, atOnce)
  if (resting.length > 0) await fitEach(app, await findChanged(app, resting))
  return resting.length === atOnce ? (resting.at(-1)?.userId as string) : nilId
}

/** Stores Free for cancelled subscriptions whose period has ended; admission treats them as Free already. Returns how many. */
export async function endPeriods(pool: pg.Pool): Promise<number> {
  for (let ended = 0; ; ended++) {
    const isOne = await sqlTransaction(pool, async (tx) => {
      const userId = await lockEnded(tx)
      if (userId) await storeSubscription(tx, userId, freeSince(new Date()))
      return userId !== undefined
    })
    if (!isOne) return ended
  }
}

async function fitFallen(app: App): Promise<void> {
  let after = nilId
  for (;;) {
    const userIds = await readFallen(app.pool, after, atOnce)
    await fitEach(app, userIds)
    if (userIds.length < atOnce || app.stopping) return
    after = userIds.at(-1) as string
  }
}

async function fitEach(app: App, userIds: readonly string[]): Promise<void> {
  for (const userId of userIds) {
    if (app.stopping) return
    await fitPlan(app, userId).catch((err: Error) =>
      app.log.warn({ err, userId }, 'a plan could not be fitted; the next sweep retries it'),
    )
  }
}
