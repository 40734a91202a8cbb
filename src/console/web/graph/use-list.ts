// Reads any list of the graph page by page.
import { useEffect, useState } from 'react'
import type { ApiError } from '../session/auth-call.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import type { Document } from './request.ts'
import { apiErrorOf, useRead } from './use-read.ts'

interface Connection<Row> {
  nodes: readonly Row[]
  pageInfo: { endCursor?: string | null; hasNextPage: boolean }
}

export interface List<Row> {
  rows: readonly Row[]
  loading: boolean
  error: ApiError | undefined
  /** True if there are further rows. */
  more: boolean
  loadMore: () => void
  /** Reads the first page again, and drops the others. */
  again: () => void
  /** Reads the first page again, and keeps the others. */
  refresh: () => void
}

/** `read` takes the list out of an answer, `idOf` tells its rows apart. The document has a variable `after`; the first page stays in the cache and changes with it. */
export function useList<Data, Variables extends { after?: string | null }, Row>(
  document: Document<Data, Variables>,
  variables: Variables,
  read: (data: Data) => Connection<Row> | null | undefined,
  idOf: (row: Row) => string,
): List<Row> {
  const { graph } = useWorkspace()
  const first = useRead(document, variables)
  const [older, setOlder] = useState<{ rows: readonly Row[]; next: string | null } | null>(null)
  const [failure, setFailure] = useState<ApiError>()
  const [loading, setLoading] = useState(false)
  const asked = JSON.stringify(variables)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other variables are another list.
  useEffect(() => setOlder(null), [asked])

  const { nodes = [], pageInfo } = (first.data && read(first.data)) ?? {}
  const next = older ? older.next : pageInfo?.hasNextPage ? (pageInfo.endCursor ?? null) : null

  async function loadMore(): Promise<void> {
    setLoading(true)
    const { data, error } = await graph.client
      .query<Data>(document.toString(), { ...variables, after: next }, { requestPolicy: 'network-only' })
      .toPromise()
    setLoading(false)
    setFailure(error && apiErrorOf(error))
    const page = data && read(data)
    if (!page) return
    const { endCursor, hasNextPage } = page.pageInfo
    setOlder({ rows: [...(older?.rows ?? []), ...page.nodes], next: hasNextPage ? (endCursor ?? null) : null })
  }

  const shown = new Set(nodes.map(idOf))
  return {
    // The first page may have grown over what was read before it.
    rows: older ? [...nodes, ...older.rows.filter((row) => !shown.has(idOf(row)))] : nodes,
    loading: loading || first.loading,
    error: failure ?? first.error,
    more: next !== null,
    loadMore: () => void loadMore(),
    refresh: first.again,
    again() {
      setOlder(null)
      first.again()
    },
  }
}
