// The context of all pages of a workspace: its graph, its live view, and the data that the shell has read.
import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react'
import type { EventRowFragment, ShellQuery } from '../generated/graph/graphql.ts'
import type { Graph } from '../graph/client.ts'
import type { Team } from '../graph/request.ts'
import type { Live, LiveState } from '../live/live.ts'

export interface OpenWorkspace extends ShellQuery {
  team: Team
  graph: Graph
  live: Live
  /** Set while the reader has stopped a view of events. */
  paused: boolean
  setPaused: (paused: boolean) => void
}

export const WorkspaceContext = createContext<OpenWorkspace | null>(null)

export function useWorkspace(): OpenWorkspace {
  const workspace = useContext(WorkspaceContext)
  if (!workspace) throw new Error('This page is outside of a workspace')
  return workspace
}

/** Collaborators of a team see neither its usage nor its subscription, and change neither its instances, endpoints nor keys. */
export function useManages(): boolean {
  const { team, teams } = useWorkspace()
  return team === null || teams.find(({ id }) => id === team)?.role !== 'collaborator'
}

export function useLiveState(): LiveState {
  const { live } = useWorkspace()
  return useSyncExternalStore(live.onState, live.state)
}

/** Calls `listener` once a frame with its events, always the last one that was given. */
export function useFrames(listener: (events: EventRowFragment[]) => void): void {
  const { live } = useWorkspace()
  const last = useRef(listener)
  useEffect(() => {
    last.current = listener
  })
  useEffect(() => live.onFrame((events) => last.current(events)), [live])
}
