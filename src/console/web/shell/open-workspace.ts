// Opens a workspace: reads who is asking and the end of the event log, then follows the log from there.
import { useEffect, useState } from 'react'
import { ShellDocument, StartDocument } from '../generated/graph/graphql.ts'
import { createGraph, type Graph } from '../graph/client.ts'
import { everyType } from '../graph/event-types.ts'
import { passes } from '../graph/passing.ts'
import type { Document, Team } from '../graph/request.ts'
import { apiErrorOf } from '../graph/use-read.ts'
import { follow } from '../live/live.ts'
import { ApiError } from '../session/auth-call.ts'
import type { OpenWorkspace } from './workspace-context.ts'

export type Opened = Omit<OpenWorkspace, 'paused' | 'setPaused'>
export type Opening = { kind: 'loading' } | { kind: 'open'; workspace: Opened } | { kind: 'failed'; error: ApiError }

/** Reads into the cache. @throws ApiError */
async function read<Data, Variables extends object>(
  { client }: Graph,
  document: Document<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { data, error } = await client.query<Data>(document.toString(), variables, { requestPolicy: 'network-only' }).toPromise()
  if (error) throw apiErrorOf(error)
  return data as Data
}

/**
 * Pages read after the cursor is known, so that no event is missed between their reading and the stream. The cache then knows the instances.
 */
async function readStart(graph: Graph): Promise<string | null> {
  return (await read(graph, StartDocument, { types: everyType })).events.pageInfo.endCursor ?? null
}

export function useOpening(team: Team): Opening {
  const [opening, setOpening] = useState<Opening>({ kind: 'loading' })
  useEffect(() => {
    const graph = createGraph(team)
    let closed = false
    let close = () => {}
    async function open(): Promise<void> {
      try {
        const [shell, cursor] = await Promise.all([read(graph, ShellDocument, {}), readStart(graph)])
        if (closed) return
        const removed = (error: ApiError) => setOpening({ kind: 'failed', error })
        const live = follow({ team, cursor, readCursor: () => readStart(graph), removed })
        const unfollow = live.onFrame(graph.apply)
        close = () => {
          unfollow()
          live.stop()
        }
        setOpening({ kind: 'open', workspace: { ...shell, team, graph, live } })
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        if (closed) return
        setOpening({ kind: 'failed', error })
        if (!passes(error)) return
        const timer = setTimeout(() => void open(), 1_500)
        close = () => clearTimeout(timer)
      }
    }
    void open()
    return () => {
      closed = true
      close()
    }
  }, [team])
  return opening
}
