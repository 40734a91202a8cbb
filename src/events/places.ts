// How many streams a key, or a person's session, may have open at a time in this process.
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import type { Holder } from './outlet.ts'

export const maxStreamsOfKey = 50

/** Takes one of the credential's places; call what it returns to give it back. @throws API_RATE_LIMIT_EXCEEDED */
export type TakePlace = (holder: Holder) => () => void

export function createPlaces(app: App): TakePlace {
  const taken = new Map<string, number>()

  function change(credentialId: string, by: 1 | -1): void {
    const count = (taken.get(credentialId) ?? 0) + by
    if (count === 0) taken.delete(credentialId)
    else taken.set(credentialId, count)
    app.metrics.openStreams.inc(by)
  }

  return ({ credentialId }) => {
    if ((taken.get(credentialId) ?? 0) >= maxStreamsOfKey) {
      fail('API_RATE_LIMIT_EXCEEDED', `At most ${maxStreamsOfKey} streams at a time`)
    }
    change(credentialId, 1)
    let held = true
    return () => {
      if (held) change(credentialId, -1)
      held = false
    }
  }
}
