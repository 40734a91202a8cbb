// A wait that others can cut short.

export interface Alarm {
  /** Ends the present wait, or the next one before it begins. */
  ring: () => void
  /** Waits until rung (true) or until the time is over (false). One waiter at a time. */
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
