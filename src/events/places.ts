// How many streams a key may have open at a time in this process.
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'

export const maxStreamsOfKey = 50

/** Takes one of the key's places; call what it returns to give it back. @throws API_RATE_LIMIT_EXCEEDED */
export type TakePlace = (keyId: string) => () => void

export function createPlaces(app: App): TakePlace {
  const taken = new Map<string, number>()

  function change(keyId: string, by: 1 | -1): void {
    const count = (taken.get(keyId) ?? 0) + by
    if (count === 0) taken.delete(keyId)
    else taken.set(keyId, count)
    app.metrics.openStreams.inc(by)
  }

  return (keyId) => {
    if ((taken.get(keyId) ?? 0) >= maxStreamsOfKey) {
      fail('API_RATE_LIMIT_EXCEEDED', `At most ${maxStreamsOfKey} streams at a time on this key`)
    }
    change(keyId, 1)
    let held = true
    return () => {
      if (held) change(keyId, -1)
      held = false
    }
  }
}
