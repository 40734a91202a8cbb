// A timed wait that other code can end early.

export interface Alarm {
  /** Ends the current wait. With no wait in progress, the next one returns at once. */
  ring: () => void
  /** Resolves to true when rung, to false after `timeoutMs`. Only one waiter at a time. */
  wait: (timeoutMs: number) => Promise<boolean>
}

export function createAlarm(): Alarm {
  let rung = false
  let end: ((rung: boolean) => void) | undefined
  return {
    ring() {
      rung = true
      end?.(true)
    },
    async wait(timeoutMs) {
      if (!rung) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<boolean>((resolve) => {
          end = resolve
          timer = setTimeout(resolve, timeoutMs, false)
        })
        clearTimeout(timer)
        end = undefined
      }
      const was = rung
      rung = false
      return was
    },
  }
}
