// Reads the list page by page. Rows that are on screen stay where they are; their content changes by events.
import { useEffect, useState } from 'react'
import { type LiveRowFragment, type MessageFilter, MessagesDocument } from '../generated/messages/graphql.ts'
import { apiErrorOf, useRead } from '../graph/use-read.ts'
import type { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'

const pageSize = 50

interface Pages {
  rows: LiveRowFragment[]
  loading: boolean
  error: ApiError | undefined
  /** True if there are older rows. */
  more: boolean
  loadMore: () => void
  /** Reads the first page again, and drops the others. */
  again: () => void
}

interface Older {
  ids: LiveRowFragment[]
  next: string | null
}

export function usePages(filter: MessageFilter): Pages {
  const { graph, live } = useWorkspace()
  const first = useRead(MessagesDocument, { first: pageSize, filter })
  const [older, setOlder] = useState<Older | null>(null)
  const [failure, setFailure] = useState<ApiError>()
  const [loading, setLoading] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters are another list.
  useEffect(() => setOlder(null), [filter])
  // Older pages are not queries that stay open, so events are written into their rows here.
  useEffect(
    () =>
      live.onFrame((events) =>
        setOlder((known) => {
          if (!known) return known
          const changed = new Map(events.flatMap(({ message }) => (message ? [[message.id, message]] : [])))
          if (!known.ids.some(({ id }) => changed.has(id))) return known
          return { ...known, ids: known.ids.map((row) => newer(row, changed.get(row.id))) }
        }),
      ),
    [live],
  )

  const { nodes = [], pageInfo } = first.data?.messages ?? {}
  const next = older ? older.next : pageInfo?.hasNextPage ? pageInfo.endCursor : null

  async function loadMore(): Promise<void> {
    setLoading(true)
    const variables = { first: pageSize, filter, after: next }
    const { data, error } = await graph.client
      .query(MessagesDocument.toString(), variables, { requestPolicy: 'network-only' })
      .toPromise()
    setLoading(false)
    setFailure(error && apiErrorOf(error))
    if (!data) return
    const { nodes: rows, pageInfo: place } = data.messages
    setOlder({ ids: [...(older?.ids ?? []), ...rows], next: place.hasNextPage ? place.endCursor : null })
  }

  const shown = new Set(nodes.map(({ id }) => id))
  return {
    // The first page may have grown over what was read before it.
    rows: older ? [...nodes, ...older.ids.filter(({ id }) => !shown.has(id))] : nodes,
    loading: loading || first.loading,
    error: failure ?? first.error,
    more: next !== null && next !== undefined,
    loadMore: () => void loadMore(),
    again() {
      setOlder(null)
      first.again()
    },
  }
}

function newer(row: LiveRowFragment, message: LiveRowFragment | undefined): LiveRowFragment {
  return message && message.updatedAt >= row.updatedAt ? message : row
}
