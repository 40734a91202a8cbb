// Runs tasks with a bound on how many run at the same time, in the order in which they came.

export function createLimit(most: number): (task: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      await task()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}
