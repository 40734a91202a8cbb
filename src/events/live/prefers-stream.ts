// Decides from the Accept header if a request wants a server-sent event stream.
import { preferencesIn } from '../../core/http/preferences.ts'

/** True when `text/event-stream` ranks above every `application` type and the wildcard: by q weight, then by order in the header. */
export function prefersStream(accept: string | undefined): boolean {
  if (!accept?.toLowerCase().includes('text/event-stream')) return false
  return preferencesIn(accept).find((type) => /^(text\/event-stream|application\/.*|\*\/\*)$/.test(type)) === 'text/event-stream'
}
