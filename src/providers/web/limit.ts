// Runs tasks with a bound on how many run at the same time, in the order in which they came.

export function createLimit(most: number): (task: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      await task()
    } finally {
      // The next task has this place at once, so that none which comes before it begins takes it too.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
