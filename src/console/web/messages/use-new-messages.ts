// Counts messages that happened while the list is open and are not in it. They show when the reader asks.
import { useCallback, useEffect, useRef, useState } from 'react'
import type { LiveRowFragment, MessageFilter } from '../generated/messages/graphql.ts'
import { useFrames } from '../shell/workspace-context.ts'
import { count } from '../words/words.ts'
import { fits } from './filter.ts'

/** A page that is left open for a night must not remember every message of it. */
const mostCounted = 1_000

interface NewMessages {
  count: number
  /** The count as it is shown. A list begins without new messages, and would wait 8 ms for the format of numbers. */
  text: () => string
  clear: () => void
}

/** `more` is true if there are older messages than those in `rows`. */
export function useNewMessages(filter: MessageFilter, rows: readonly LiveRowFragment[], more: boolean): NewMessages {
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  // Two frames may come before the next render, so each adds to what the one before left.
  const latest = useRef(fresh)
  const replace = useCallback((ids: ReadonlySet<string>) => {
    latest.current = ids
    setFresh(ids)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters are another list.
  useEffect(() => replace(new Set()), [filter, replace])
  useFrames((events) => {
    const known = latest.current
    if (known.size >= mostCounted) return
    // An older one may come to fit the filter, such as one that fails. One of a further page shows there.
    const oldest = more ? (rows.at(-1)?.createdAt ?? '') : ''
    const shown = new Set(rows.map(({ id }) => id))
    const added = events.flatMap(({ message }) => {
      if (!message || message.createdAt < oldest || shown.has(message.id) || !fits(filter, message)) return []
      return known.has(message.id) ? [] : [message.id]
    })
    // React keeps an update that changes nothing, with the events, until the component renders.
    if (added.length > 0) replace(new Set([...known, ...added]))
  })
  const shown = new Set(rows.map(({ id }) => id))
  const number = [...fresh].filter((id) => !shown.has(id)).length
  return {
    count: Math.min(number, mostCounted),
    text: () => (number < mostCounted ? count(number) : `${count(mostCounted)}+`),
    clear: () => replace(new Set()),
  }
}
