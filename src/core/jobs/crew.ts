// The workers of one queue in this process. While jobs wait for a network, further workers take the places of theirs.
import type { WorkerShape } from './jobs.ts'

/** A worker whose batch is not done by then is late, and another one may start in its place. */
const lateMs = 250

export interface Crew {
  /** Adds a worker that has started. */
  add: (workerId: string) => void
  /** Notes that a worker has a batch. Call the result once, when the worker is about to fetch again. */
  begin: (workerId: string) => () => void
  /** Starts no further workers. */
  close: () => void
}

export interface CrewCalls {
  /** Starts a worker, and adds it. */
  start: () => Promise<void>
  /** Ends a worker that has no batch. */
  end: (workerId: string) => void
}

/** Keeps `workers` that are not late, as far as `mostWorkers` allows. */
export function createCrew({ workers, mostWorkers = workers }: WorkerShape, { start, end }: CrewCalls): Crew {
  /** Without a batch, the one that ended its last batch first in front. */
  const free = new Set<string>()
  let all = workers
  let late = 0
  let closed = false

  function startOne(): void {
    if (closed || all >= mostWorkers || all - late >= workers) return
    all++
    start().catch(() => void all--)
  }

  function endSpare(): void {
    for (const workerId of free) {
      if (all - late <= workers) return
      free.delete(workerId)
      all--
      end(workerId)
    }
  }

  return {
    add: (workerId) => void free.add(workerId),
    begin(workerId) {
      // A worker that was ended may still bring the jobs of its last fetch.
      const isOurs = free.delete(workerId)
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        late++
        startOne()
      }, lateMs).unref()
      return () => {
        clearTimeout(timer)
        if (isLate) late--
        // Not this worker: jobs that waited for the end of its batch are due now, and it fetches them.
        endSpare()
        if (isOurs) free.add(workerId)
      }
    },
    close() {
      closed = true
    },
  }
}
