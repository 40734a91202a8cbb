// Limits the memory that V8 keeps after a load peak.
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Growth of the heap over its live size before a major collection, in percent. V8's default of up to 300 let one caller with
 * large requests raise resident memory by 600 MB. This value costs the bench `list` at most 5 %; at 30, `list` was 20 % slower.
 */
const growingPercent = 100
/**
 * V8 pools the pages that a collection frees and may never return them. Above this much resident memory outside of the heap, a
 * collection that empties the pool runs; it stops the process for 160 to 270 ms. Code, threads and libraries take 170 MB of that
 * memory.
 */
const mostKeptBytes = 350e6
/** The collection runs only while event loop utilization is not above this. */
const quietUtilization = 0.2
const pollMs = 10_000

/** Call this when the process starts, before the heap grows. */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  let before = performance.eventLoopUtilization()
  setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const { rss, heapTotal, external } = process.memoryUsage()
    if (utilization > quietUtilization || rss - heapTotal - external < mostKeptBytes) return
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, pollMs).unref()
}
