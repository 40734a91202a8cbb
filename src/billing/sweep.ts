// Ends cancelled plans when their time has come. Every process with the worker role looks every few seconds, by a partial index.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { endPeriods } from './jobs.ts'

const everyMs = 5_000

export function startPlanSweep(app: App): AsyncDisposable {
  const stopping = new AbortController()
  const running = run()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sweep(app).catch((error: Error) => app.log.warn({ err: error.message }, 'plans could not be swept'))
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

async function sweep(app: App): Promise<void> {
  const ended = await endPeriods(app.pool)
  if (ended > 0) app.log.info({ ended }, 'ended subscriptions are now on the Free plan')
}
