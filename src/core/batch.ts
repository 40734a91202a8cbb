// Group commit: calls that arrive while a flush is in flight share the next flush.
import DataLoader from 'dataloader'
import { withoutBudget } from './graph/budget.ts'

export interface BatchOptions<Input, Output> {
  /** Most members of one flush. */
  max: number
  /** Most flushes in flight at once. */
  parallel: number
  /** Returns one result for each input, in order. An Error rejects its own call only; a throw rejects every call of the flush. */
  run: (inputs: readonly Input[]) => Promise<readonly (Output | Error)[]>
  observe?: (size: number) => void
}

/** Returns a function for a single input; concurrent calls share a `run`. */
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
        // Waits one turn of the event loop, so that requests from the same packet share a flush.
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
