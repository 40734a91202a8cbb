// The sends of this process that are in progress, by instance. An instance whose network is slow gets a share of what is free, so that it
// takes nothing from the others.
import { definePart } from '../../core/part.ts'
import { batchWaitMs, mostInFlight, shareOf } from './policy.ts'

export interface InFlight {
  /** True if the network of the instance answered its last send late, or has not answered one for so long. */
  isSlow: (instanceId: string) => boolean
  /** Reserves slots for the sends that a claim is about to begin. */
  slots: () => Slots
  /** Counts a send while it is in progress. */
  run: <T>(instanceId: string, send: () => Promise<T>) => Promise<T>
  /** Notes that a send to this instance is not answered in time. */
  late: (instanceId: string) => void
  /** Work that continues after its job is done. The process waits for it before it ends. */
  keep: (work: Promise<unknown>) => void
  /** Resolves when nothing is in progress. */
  idle: () => Promise<void>
}

/** The slots that one claim reserves. */
export interface Slots {
  /** Reserves a place for one more send; returns false if the instance has its share. */
  take: (instanceId: string) => boolean
  /** Gives all slots back, because the sends have begun or will not begin. */
  clear: () => void
}

interface Line {
  busy: number
  reserved: number
  slow: boolean
}

export const inFlight = definePart(createInFlight)

function createInFlight(): InFlight {
  const lines = new Map<string, Line>()
  const kept = new Set<Promise<unknown>>()
  let busy = 0

  function lineOf(instanceId: string): Line {
    const line = lines.get(instanceId) ?? { busy: 0, reserved: 0, slow: false }
    lines.set(instanceId, line)
    return line
  }

  return {
    isSlow: (instanceId) => lines.get(instanceId)?.slow ?? false,
    slots() {
      const taken: Line[] = []
      return {
        take(instanceId) {
          const line = lines.get(instanceId)
          if (!line?.slow) return true
          if (line.busy + line.reserved + 1 > shareOf(mostInFlight - busy)) return false
          line.reserved++
          taken.push(line)
          return true
        },
        clear() {
          for (let line = taken.pop(); line; line = taken.pop()) line.reserved--
        },
      }
    },
    async run(instanceId, send) {
      const line = lineOf(instanceId)
      const begin = performance.now()
      line.busy++
      busy++
      try {
        return await send()
      } finally {
        line.busy--
        busy--
        line.slow = performance.now() - begin > batchWaitMs
        if (line.busy === 0 && line.reserved === 0 && !line.slow) lines.delete(instanceId)
      }
    },
    late(instanceId) {
      lineOf(instanceId).slow = true
    },
    keep(work) {
      const ending: Promise<unknown> = work.finally(() => kept.delete(ending))
      kept.add(ending)
    },
    async idle() {
      while (kept.size > 0) await Promise.allSettled(kept)
    },
  }
}
