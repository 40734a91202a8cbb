// Counts messages that happened while the list is open and are not in it. They show when the reader asks.
import { useEffect, useState } from 'react'
import type { LiveRowFragment, MessageFilter } from '../generated/messages/graphql.ts'
import { useFrames } from '../shell/workspace-context.ts'
import { fits } from './filter.ts'

export function useNewMessages(filter: MessageFilter, rows: readonly LiveRowFragment[]): { count: number; clear: () => void } {
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters are another list.
  useEffect(() => setFresh(new Set()), [filter])
  useFrames((events) => {
    const newest = rows[0]?.createdAt ?? ''
    const shown = new Set(rows.map(({ id }) => id))
    const added = events.flatMap(({ message }) => {
      if (!message || message.createdAt < newest || shown.has(message.id) || !fits(filter, message)) return []
      return [message.id]
    })
    if (added.some((id) => !fresh.has(id))) setFresh(new Set([...fresh, ...added]))
  })
  const shown = new Set(rows.map(({ id }) => id))
  return { count: [...fresh].filter((id) => !shown.has(id)).length, clear: () => setFresh(new Set()) }
}
