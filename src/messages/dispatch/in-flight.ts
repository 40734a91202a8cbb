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
  /** Gives all slots back: the sends begin right after, or do not begin. */
  clear: () => void
}

/** The sends of one instance. */
interface Load {
  busy: number
  /** Slots that claims have taken for it. */
  reserved: number
  slow: boolean
}

export const inFlight = definePart(createInFlight)

function createInFlight(): InFlight {
  const loads = new Map<string, Load>()
  const kept = new Set<Promise<unknown>>()
  let busy = 0

  function loadOf(instanceId: string): Load {
    const load = loads.get(instanceId) ?? { busy: 0, reserved: 0, slow: false }
    loads.set(instanceId, load)
    return load
  }

  return {
    isSlow: (instanceId) => loads.get(instanceId)?.slow ?? false,
    slots() {
      const taken: Load[] = []
      return {
        take(instanceId) {
          const load = loads.get(instanceId)
          if (!load?.slow) return true
          if (load.busy + load.reserved + 1 > shareOf(mostInFlight - busy)) return false
          load.reserved++
          taken.push(load)
          return true
        },
        clear() {
          for (let load = taken.pop(); load; load = taken.pop()) load.reserved--
        },
      }
    },
    async run(instanceId, send) {
      const load = loadOf(instanceId)
      const begin = performance.now()
      load.busy++
      busy++
      try {
        return await send()
      } finally {
        load.busy--
        busy--
        load.slow = performance.now() - begin > batchWaitMs
        if (load.busy === 0 && load.reserved === 0 && !load.slow) loads.delete(instanceId)
      }
    },
    late(instanceId) {
      loadOf(instanceId).slow = true
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
