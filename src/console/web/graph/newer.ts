// Compares a message on screen with the one of an event.
import type { LiveRowFragment } from '../generated/graph/graphql.ts'

/** Messages of events by id. */
export type Messages = ReadonlyMap<string, LiveRowFragment>

/** The message of the event, unless the one on screen is newer. Of a part of a message, the same part is taken. */
export function newer<Part extends Pick<LiveRowFragment, 'id' | 'updatedAt'>>(shown: Part, messages: Messages): Part {
  const message = messages.get(shown.id)
  return message && message.updatedAt >= shown.updatedAt ? { ...shown, ...message } : shown
}
