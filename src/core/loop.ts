// Loops that run beside the requests until they are disposed of.
import { setTimeout as pause } from 'node:timers/promises'

/** Runs `loop`, which ends soon after `stop` aborts. Disposal aborts it and waits for that. */
export function startLoop(loop: (stop: AbortSignal) => Promise<void>): AsyncDisposable {
  const stopping = new AbortController()
  const running = loop(stopping.signal)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await running
    },
  }
}

/** Waits, but not beyond the end of the loop. The wait alone does not keep the process alive. */
export async function wait(ms: number, stop: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal: stop, ref: false }).catch(() => {})
}
