// The sandbox network's time: its steps happen when they are due, whoever planned them.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { ProviderEvents } from '../provider.ts'
import { runDueSteps } from './steps.ts'

/** Disposing of it waits for what is under way. */
export interface Clock extends AsyncDisposable {
  /** Says that something will be due. */
  wakeIn: (dueInMs: number) => void
}

/** How often a process looks for steps that another one left. */
const idleMs = 1_000

export function startClock(app: App, events: ProviderEvents): Clock {
  const ending = new AbortController()
  let wakeIn: Clock['wakeIn'] = () => {}
  const running = run()

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      let timer: NodeJS.Timeout | undefined
      let dueAt = Number.POSITIVE_INFINITY
      const news = Promise.withResolvers<void>()
      // Set before the look, so that what is added during it is not slept through.
      wakeIn = (ms) => {
        if (Date.now() + ms >= dueAt) return
        dueAt = Date.now() + ms
        clearTimeout(timer)
        timer = setTimeout(news.resolve, ms)
      }
      try {
        wakeIn(await runDueSteps(app, events, idleMs))
      } catch (error) {
        app.log.warn({ err: (error as Error).message }, 'sandbox network interrupted')
        await pause(idleMs)
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
    },
  }
}
