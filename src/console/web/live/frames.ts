// Collects events and hands them over once for each animation frame, so that a burst costs one rendering.
import type { EventRowFragment } from '../generated/graph/graphql.ts'

export interface Frames {
  add: (event: EventRowFragment) => void
  /** Hands over what is left at once. */
  flush: () => void
}

export function collectFrames(apply: (events: EventRowFragment[]) => void): Frames {
  let waiting: EventRowFragment[] = []
  let planned = 0
  function flush(): void {
    cancelAnimationFrame(planned)
    planned = 0
    if (waiting.length === 0) return
    const events = waiting
    waiting = []
    apply(events)
  }
  return {
    add(event) {
      waiting.push(event)
      planned ||= requestAnimationFrame(flush)
    },
    flush,
  }
}
