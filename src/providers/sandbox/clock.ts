// Clock of the sandbox network: runs steps when they are due, including those that other processes added.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { Reports } from '../reports.ts'
import { createMoves } from './moves.ts'
import { runDueSteps } from './steps.ts'

/** Disposing of it waits for the steps in progress. */
export interface Clock extends AsyncDisposable {
  /** Announces that a step will be due. */
  wakeIn: (dueInMs: number) => void
}

/** How often a process polls for steps that another one left. */
const idleMs = 5_000
/** How soon a process tries again after a failure of the database. */
const retryMs = 500

export function startClock(app: App, events: Reports): Clock {
  const ending = new AbortController()
  const moves = createMoves(app, events)
  let wakeIn: Clock['wakeIn'] = () => {}
  const running = run()

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      let timer: NodeJS.Timeout | undefined
      let dueAt = Number.POSITIVE_INFINITY
      const news = Promise.withResolvers<void>()
      // Set before the query, so that a step which is added during the query still wakes the loop.
      wakeIn = (ms) => {
        if (Date.now() + ms >= dueAt) return
        dueAt = Date.now() + ms
        clearTimeout(timer)
        timer = setTimeout(news.resolve, ms)
      }
      try {
        wakeIn(await runDueSteps(app, events, moves, idleMs))
      } catch (error) {
        app.log.warn({ err: (error as Error).message }, 'sandbox network interrupted')
        await pause(retryMs)
        wakeIn(0)
      }
      if (!ending.signal.aborted) await news.promise
      clearTimeout(timer)
    }
  }

  return {
    wakeIn: (ms) => wakeIn(ms),
    async [Symbol.asyncDispose]() {
      ending.abort()
      wakeIn(0)
      await running
      await moves.ended()
    },
  }
}
