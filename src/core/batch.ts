// Group commit: calls that arrive while a flush is in flight share the next one.
import DataLoader from 'dataloader'
import { withoutBudget } from './graph/budget.ts'

export interface BatchOptions<Input, Output> {
  /** The most members of one flush. */
  max: number
  /** Flushes in flight at once. */
  parallel: number
  /** Answers in the order of its inputs; an Error answers its own member only, a throw answers all of them. */
  run: (inputs: readonly Input[]) => Promise<readonly (Output | Error)[]>
  observe?: (size: number) => void
}

/** A function that does for one what `run` does for many. */
export function createBatch<Input, Output>(options: BatchOptions<Input, Output>): (input: Input) => Promise<Output> {
  const { max, parallel, run, observe } = options
  const waiting: (() => void)[] = []
  let running = 0
  const loader = new DataLoader<Input, Output>(
    async (inputs) => {
      observe?.(inputs.length)
      try {
        return await withoutBudget(() => run(inputs))
      } finally {
        running--
        start()
      }
    },
    {
      cache: false,
      maxBatchSize: max,
      batchScheduleFn: (dispatch) => {
        waiting.push(dispatch)
        // One turn of the event loop gathers what the same packet of requests brings.
        if (running < parallel) setImmediate(start)
      },
    },
  )
  function start(): void {
    if (running >= parallel) return
    const dispatch = waiting.shift()
    if (!dispatch) return
    running++
    dispatch()
  }
  return (input) => loader.load(input)
}
