// The last look at messages before they leave. Everything that may have changed since a message was accepted is judged here, once its time
// has come: for a whole claim at a time, under the row locks of its messages.
import type { OpenRow } from './claim.sql.ts'

/** The messages that must not leave any more, with the error code of each. The others leave. */
export function refusedToLeave(rows: readonly OpenRow[]): Map<string, string> {
  const refused = new Map<string, string>()
  for (const { id, subscribed, mayHaveLeft } of rows) {
    // The network may have a message from an earlier attempt. Only its own answer settles that one.
    if (!subscribed && !mayHaveLeft) refused.set(id, 'SUBSCRIPTION_INACTIVE')
  }
  return refused
}
