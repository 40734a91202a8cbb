// The resident memory of the nodes during a run: does it level?
import { median } from '../bench/stage.ts'
import { residentBytes } from '../kit/resident.ts'
import type { Node } from './nodes.ts'
import type { Line } from './verdict.ts'

const everyMs = 2_000
const spans = 5

/** Reads the memory of the nodes from now on. `end` stops that and tells the medians of five equal spans of the run. */
export function watchMemory(nodes: readonly Node[]): { end: () => Line } {
  const readings: number[] = []
  const timer = setInterval(() => {
    for (const { program } of nodes) {
      const pid = program.pid()
      // Not a number for a process that has just ended.
      const bytes = pid ? residentBytes(pid) : Number.NaN
      if (bytes) readings.push(bytes)
    }
  }, everyMs)
  return {
    end() {
      clearInterval(timer)
      const place = (n: number) => Math.round((n * readings.length) / spans)
      const medians = Array.from({ length: spans }, (_, n) =>
        Math.round(median(readings.slice(place(n), place(n + 1))) / 2 ** 20),
      )
      return { what: 'memory of a node in five spans of the run', value: `${medians.join(', ')} MiB` }
    },
  }
}
