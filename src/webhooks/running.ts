// The attempts in progress of one process, and its limit on them.

export interface Running {
  /** Resolves once there are fewer attempts than the limit. Callers that wait are woken in order, one for each attempt that ends. */
  free: () => Promise<void>
  /** Adds an attempt, which must not reject. */
  add: (deliveryId: string, attempt: Promise<void>) => void
  deliveryIds: () => string[]
  /** Resolves once all attempts that are in progress now have ended. */
  ended: () => Promise<unknown>
}

/** `most` is a soft limit: a caller may add several attempts once {@link Running.free} resolves. */
export function createRunning(most: number): Running {
  const attempts = new Map<string, Promise<void>>()
  const waiting: (() => void)[] = []
  return {
    async free() {
      while (attempts.size >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    add(deliveryId, attempt) {
      const entry = attempt.finally(() => {
        attempts.delete(deliveryId)
        waiting.shift()?.()
      })
      attempts.set(deliveryId, entry)
    },
    deliveryIds: () => [...attempts.keys()],
    ended: () => Promise.allSettled(attempts.values()),
  }
}
