// Group commit: calls that arrive while a flush is in flight share the next flush.
import { setImmediate as turn } from 'node:timers/promises'
import DataLoader from 'dataloader'
import { withoutBudget } from './graph/budget.ts'
import { isUnavailable } from './public-failure.ts'

export interface BatchOptions<Input, Output> {
  /** Most members of one flush. */
  max: number
  /** Most flushes in flight at once. */
  parallel: number
  /**
   * With it, a flush waits for the one before, but at most this time in milliseconds. For flushes that lock the same rows: two at once
   * would wait for each other, and one of their double size costs less. In `npm run bench -- accept`, the gateway took 0.81 s of
   * processor time for 1,000 messages, and 1.05 s without it.
   */
  slowMs?: number
  /** Returns one result for each input, in order. An Error rejects its own call only; a throw rejects every call of the flush. */
  run: (inputs: readonly Input[]) => Promise<readonly (Output | Error)[]>
  observe?: (size: number) => void
}

/** Returns a function for a single input; concurrent calls share a `run`. */
export function createBatch<Input, Output>(options: BatchOptions<Input, Output>): (input: Input) => Promise<Output> {
  const { max, parallel, slowMs, run, observe } = options
  const waiting: (() => void)[] = []
  let running = 0
  /** The clocks of the flushes in flight that took longer than `slowMs`. */
  const slow = new Set<NodeJS.Timeout | undefined>()
  const loader = new DataLoader<Input, Output>(
    async (inputs) => {
      observe?.(inputs.length)
      const clock = slowMs === undefined ? undefined : setTimeout(() => startAfter(clock), slowMs)
      try {
        return await withoutBudget(() => run(inputs))
      } finally {
        clearTimeout(clock)
        slow.delete(clock)
        running--
        // The next flush sends its first statements before the callers of this one go on, which takes milliseconds if they are many.
        if (start()) await turn()
      }
    },
    {
      cache: false,
      maxBatchSize: max,
      batchScheduleFn: (dispatch) => {
        waiting.push(dispatch)
        // Waits one turn of the event loop, so that requests from the same packet share a flush.
        if (mayStart()) setImmediate(start)
      },
    },
  )
  function mayStart(): boolean {
    return running < parallel && (slowMs === undefined || running === slow.size)
  }
  function startAfter(clock: NodeJS.Timeout | undefined): void {
    slow.add(clock)
    start()
  }
  /** Starts the next flush, and returns true, if one waits and may start. */
  function start(): boolean {
    const dispatch = mayStart() && waiting.shift()
    if (!dispatch) return false
    running++
    dispatch()
    return true
  }
  return (input) => loader.load(input)
}

/**
 * Runs the members of a flush together. If that fails, runs them one by one, so that a faulty member fails alone. `mayRepeat` tells which
 * failures allow it; by default all but those of an absent database, without which single members would fail too.
 */
export async function runApartOnFailure<Input, Output>(
  inputs: readonly Input[],
  run: (inputs: readonly Input[]) => Promise<readonly (Output | Error)[]>,
  mayRepeat = (error: unknown) => !isUnavailable(error),
): Promise<readonly (Output | Error)[]> {
  try {
    return await run(inputs)
  } catch (error) {
    if (inputs.length === 1 || !mayRepeat(error)) throw error
    const outputs: (Output | Error)[] = []
    for (const one of inputs) outputs.push(...(await run([one]).catch((reason: Error) => [reason])))
    return outputs
  }
}
