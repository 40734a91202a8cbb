// Reads any list of the graph page by page. All of the rows that are shown are read again together, and change with the events of their messages.
import { useEffect, useRef, useState } from 'react'
import type { LiveRowFragment } from '../generated/graph/graphql.ts'
import { ApiError } from '../session/auth-call.ts'
import { useFrames, useWorkspace } from '../shell/workspace-context.ts'
import type { Frame } from './client.ts'
import type { Messages } from './newer.ts'
import { isTorn, join, type Page, readAgain } from './pages.ts'
import { passes } from './passing.ts'
import { ask, type Document } from './request.ts'
import { againMs, apiErrorOf, useRead } from './use-read.ts'

interface Connection<Row> {
  nodes: readonly Row[]
  pageInfo: { endCursor?: string | null; hasNextPage: boolean }
}

export interface List<Row> {
  rows: readonly Row[]
  /** True until the rows are those of the list. Those of the list before it are shown meanwhile. */
  loading: boolean
  error: ApiError | undefined
  /** True if there are further rows. */
  more: boolean
  loadMore: () => Promise<void>
  /** Reads the first page again, and drops the others. */
  again: () => void
  /** Reads all rows again that are shown. */
  refresh: () => void
}

/** Rows of the first page and of those after it; `of` says which list. */
interface Read<Row> extends Page<Row> {
  of: string
}

function pageOf<Row>({ nodes, pageInfo: { endCursor, hasNextPage } }: Connection<Row>): Page<Row> {
  return { rows: nodes, next: hasNextPage ? (endCursor ?? null) : null }
}

/**
 * `read` takes the list out of an answer, `idOf` tells its rows apart, `changed` returns a row as messages of events change it. The document has
 * a variable `after`. The first page stays in the cache and changes with it; the others are not kept there, or every reading would add to it.
 */
export function useList<Data, Variables extends { after?: string | null }, Row>(
  document: Document<Data, Variables>,
  variables: Variables,
  read: (data: Data) => Connection<Row> | null | undefined,
  idOf: (row: Row) => string,
  changed?: (row: Row, messages: Messages) => Row,
): List<Row> {
  const { graph, live, team } = useWorkspace()
  const first = useRead(document, variables)
  const [kept, show] = useState<Read<Row> | null>(null)
  const [failure, setFailure] = useState<ApiError>()
  const asked = JSON.stringify(variables)
  const further = kept?.of === asked ? kept : null
  // Tasks run later than the rendering that began them, and continue from what the task before them left.
  const held = useRef<Read<Row> | null>(null)
  const [turn, waiting, drops] = [useRef(Promise.resolve()), useRef(false), useRef(0)]
  /** Messages of events that came while a task ran, whose answer may be older. */
  const meanwhile = useRef<Map<string, LiveRowFragment> | null>(null)

  function keep(next: Read<Row> | null): void {
    held.current = next
    show(next)
  }

  // The rows and the failure of one list say nothing about another one, and no event reaches rows of a list that is not shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each list.
  useEffect(() => drop(), [asked])

  function drop(): void {
    drops.current++
    keep(null)
    setFailure(undefined)
  }

  /** Runs one task after the other. Its rows are kept, unless the list was dropped or became another one. */
  function inTurn(task: () => Promise<Page<Row> | null>): Promise<void> {
    const dropped = drops.current
    turn.current = turn.current.then(async () => {
      const messages = new Map<string, LiveRowFragment>()
      meanwhile.current = messages
      let page: Page<Row> | null = null
      let failed: ApiError | undefined
      try {
        page = await task()
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        failed = error
      }
      meanwhile.current = null
      if (dropped !== drops.current) return
      if (page) keep({ rows: page.rows.map((row) => changed?.(row, messages) ?? row), next: page.next, of: asked })
      setFailure(failed)
    })
    return turn.current
  }

  async function readPage(after: string, size?: number): Promise<Page<Row>> {
    const page = read(await ask(team, document, { ...variables, ...('first' in variables && size && { first: size }), after }))
    return page ? pageOf(page) : { rows: [], next: null }
  }

  /** The rows that a task continues from. */
  const rowsSoFar = () => (held.current?.of === asked ? held.current : null)
  const top = first.data && read(first.data)
  const { rows: nodes, next: second } = top ? pageOf(top) : { rows: [], next: null }

  function loadMore(): Promise<void> {
    return inTurn(async () => {
      const before = rowsSoFar() ?? { rows: nodes, next: second }
      if (before.next === null) return null
      const { rows, next } = await readPage(before.next)
      return { rows: [...before.rows, ...rows], next }
    })
  }

  function refresh(): void {
    if (!rowsSoFar()) {
      setFailure(undefined)
      first.again()
      return
    }
    if (waiting.current) return
    waiting.current = true
    void inTurn(async () => {
      waiting.current = false
      const before = rowsSoFar()
      if (!before) return null
      const { data, error } = await graph.client
        .query<Data>(document.toString(), variables, { requestPolicy: 'network-only' })
        .toPromise()
      if (error) throw apiErrorOf(error)
      const page = data && read(data)
      return page ? await readAgain(pageOf(page), readPage, before.rows.length) : null
    })
  }

  function follow(events: Frame): void {
    if (!changed) return
    const messages = new Map(events.flatMap(({ message }) => (message ? [[message.id, message] as const] : [])))
    for (const [id, message] of messages) meanwhile.current?.set(id, message)
    const before = rowsSoFar()
    const rows = before?.rows.map((row) => changed(row, messages))
    if (before && rows?.some((row, n) => row !== before.rows[n])) keep({ ...before, rows })
  }

  useFrames(follow)
  const last = useRef(refresh)
  useEffect(() => {
    last.current = refresh
  })
  useEffect(() => live.onReset(() => held.current && last.current()), [live])
  const torn = further !== null && isTorn(nodes, further.rows, idOf)
  useEffect(() => {
    if (torn) last.current()
  }, [torn])
  // A gateway that was away is asked again, until it answers.
  useEffect(() => {
    if (!failure || !passes(failure)) return
    const timer = setTimeout(() => last.current(), againMs)
    return () => clearTimeout(timer)
  }, [failure])

  return {
    rows: further ? join(nodes, further.rows, idOf) : nodes,
    loading: first.loading,
    error: failure ?? first.error,
    more: (further ? further.next : second) !== null,
    loadMore,
    refresh,
    again() {
      drop()
      first.again()
    },
  }
}
