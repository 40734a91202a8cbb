// Limits the open streams of an API key, or of a person over all sessions, in this process.
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'
import type { StreamOwner } from './bounded-writer.ts'

export const maxStreamsOfKey = 50

/**
 * Kind of capacity to reserve. A `stream` is a connection with one operation. In single-connection mode, the connection (from its
 * reservation on) and each of its operations are reserved separately, as `connection` and `operation`.
 */
export type Slot = 'stream' | 'connection' | 'operation'

/**
 * Reserves capacity for the caller and returns a function that releases it.
 * @throws API_RATE_LIMIT_EXCEEDED when the caller already has {@link maxStreamsOfKey} connections or operations.
 */
export type TakeSlot = (owner: StreamOwner, slot: Slot) => () => void

/** Allows each caller {@link maxStreamsOfKey} connections and as many operations. */
export function createSlots(app: App): TakeSlot {
  const connections = new Map<string, number>()
  const operations = new Map<string, number>()

  function change(taken: Map<string, number>, name: string, by: 1 | -1): void {
    const count = (taken.get(name) ?? 0) + by
    if (count === 0) taken.delete(name)
    else taken.set(name, count)
  }

  return (owner, slot) => {
    const name = nameOf(owner)
    const takes = { stream: [connections, operations], connection: [connections], operation: [operations] }[slot]
    if (takes.some((taken) => (taken.get(name) ?? 0) >= maxStreamsOfKey)) {
      fail('API_RATE_LIMIT_EXCEEDED', `At most ${maxStreamsOfKey} ${slot}s at the same time`)
    }
    for (const taken of takes) change(taken, name, 1)
    if (slot !== 'connection') app.metrics.openStreams.inc(1)
    let held = true
    return () => {
      if (!held) return
      held = false
      for (const taken of takes) change(taken, name, -1)
      if (slot !== 'connection') app.metrics.openStreams.inc(-1)
    }
  }
}

/** A person may have many sessions, which share one limit. */
function nameOf({ kind, userId, credentialId }: StreamOwner): string {
  return kind === 'console' ? `person ${userId}` : `key ${credentialId}`
}
