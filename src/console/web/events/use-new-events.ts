// Counts the events that happened since the newest one on the page.
import { useEffect, useRef, useState } from 'react'
import type { EventType } from '../generated/graph/graphql.ts'
import { useFrames } from '../shell/workspace-context.ts'
import { count } from '../words/words.ts'

/** A page that is left open for a night must not remember every event of it. */
const mostCounted = 1_000

const none: readonly string[] = []

/** The number as it is shown; empty for none. `newest` is the id of the newest event of the log that the page has shown. */
export function useNewEvents(type: EventType | undefined, newest: string | undefined): string {
  const [ids, setIds] = useState(none)
  // Two frames may come before the next render, so each adds to what the one before left.
  const latest = useRef(ids)
  function keep(next: readonly string[]): void {
    latest.current = next
    setIds(next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: another type is another list.
  useEffect(() => keep(none), [type])
  useFrames((events) => {
    const added = events.flatMap((event) => (!type || event.type === type ? [event.id] : []))
    // React keeps an update that changes nothing, with the events, until the component renders.
    if (added.length > 0) keep([...latest.current, ...added].slice(-mostCounted))
  })
  // The answer of the gateway has events that came by the stream before it. Older ones stand on further pages.
  const shown = newest === undefined ? -1 : ids.lastIndexOf(newest)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer.
  useEffect(() => {
    if (shown >= 0) keep(latest.current.slice(shown + 1))
  }, [shown])
  const number = ids.length - shown - 1
  if (number === 0) return ''
  return number < mostCounted ? count(number) : `${count(mostCounted)}+`
}
