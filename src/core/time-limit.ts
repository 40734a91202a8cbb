// Timeout for a promise.

/**
 * Resolves as `work`, unless it takes longer than `ms`. The work itself continues; only the wait ends. @throws the error of `late`
 * when the time is over.
 */
export async function inTime<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(late()), ms)
  return await Promise.race([work, limit.promise]).finally(() => clearTimeout(timer))
}
