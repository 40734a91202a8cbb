// Asks again and again, one question at a time.

export interface PollLoop {
  /** Asks now, unless an answer is awaited, and calls `next` a while after the answer. */
  ask: () => void
  stop: () => void
}

/** `next` decides whether it asks again. */
export function pollLoop(read: () => Promise<void>, next: () => void, everyMs: number): PollLoop {
  let [asking, stopped] = [false, false]
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    ask() {
      if (asking || stopped) return
      clearTimeout(timer)
      asking = true
      void read().finally(() => {
        asking = false
        if (!stopped) timer = setTimeout(next, everyMs)
      })
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
