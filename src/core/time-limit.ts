// Waiting no longer than is worth it.

/** What `work` resolves to, unless it takes longer than `ms`. The work itself goes on: it is only not waited for. @throws what `late` makes. */
export async function inTime<T>(ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(late()), ms)
  return await Promise.race([work, limit.promise]).finally(() => clearTimeout(timer))
}
