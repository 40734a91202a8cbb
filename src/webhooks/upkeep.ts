// Periodic work while the process lives. Runs never overlap, and after a failure the next run tries again.
import type { App } from '../core/app.ts'

export interface Upkeep extends AsyncDisposable {
  start: () => void
}

export function createUpkeep(app: App, everyMs: number, work: () => Promise<void>): Upkeep {
  let timer: NodeJS.Timeout | undefined
  let current: Promise<void> | undefined
  function once(): void {
    current ??= work()
      .catch((error: Error) => app.log.warn({ err: error.message }, 'webhook upkeep failed; trying again'))
      .finally(() => {
        current = undefined
      })
  }
  return {
    start() {
      timer = setInterval(once, everyMs).unref()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await current
    },
  }
}
