// Lays the messages of events over the answers of the gateway. An answer may be older than an event that came while it was awaited, and the
// cache does not keep the event of a message that no page has read before.
import { type Exchange, mapExchange } from '@urql/core'
import type { LiveRowFragment } from '../generated/graph/graphql.ts'
import { newer } from './newer.ts'

/** More messages change within the wait for one answer only under a load that nobody reads along with. */
const mostKept = 1_000

interface OverAnswers {
  note: (message: LiveRowFragment) => void
  /** Stands between the cache and the network. */
  exchange: Exchange
}

export function overAnswers(): OverAnswers {
  /** As the last event of each tells them; the oldest event comes first. */
  const latest = new Map<string, LiveRowFragment>()

  function over(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(over)
    if (typeof value !== 'object' || !value) return value
    const copy = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, over(part)]))
    return copy.__typename === 'Message' ? newer(copy as LiveRowFragment, latest) : copy
  }

  return {
    note(message) {
      latest.delete(message.id)
      latest.set(message.id, message)
      if (latest.size > mostKept) latest.delete(latest.keys().next().value as string)
    },
    exchange: mapExchange({ onResult: (result) => ({ ...result, data: over(result.data) }) }),
  }
}
