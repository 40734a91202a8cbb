// The frame around every page of a workspace.
import { Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { Provider, useQuery } from 'urql'
import { ShellDocument, type ShellQuery } from '../generated/graph/graphql.ts'
import type { Team } from '../graph/request.ts'
import { usePart } from '../navigation.tsx'
import { reasonOf } from '../ui/refusal.tsx'
import { words } from '../words/words.ts'
import { Banner, Frame } from './frame.tsx'
import { NotFound } from './not-found.tsx'
import { Notice } from './notice.tsx'
import { type Opened, type Opening, useOpening } from './open-workspace.ts'
import { WorkspaceContext } from './workspace-context.ts'

export function Workspace() {
  const team = usePart('teamId') || null
  // Another workspace is another cache, another stream and another page.
  return <Opener key={team} team={team} />
}

function Opener({ team }: { team: Team }) {
  const opening = useOpening(team)
  if (opening.kind !== 'open') return <Closed opening={opening} />
  return (
    <Provider value={opening.workspace.graph.client}>
      <Open opened={opening.workspace} />
    </Provider>
  )
}

/** The person and the teams are those of the cache, where the name of a team changes. */
function Open({ opened }: { opened: Opened }) {
  const [paused, setPaused] = useState(false)
  const [{ data }] = useQuery<ShellQuery>({ query: ShellDocument.toString(), requestPolicy: 'cache-first' })
  return (
    <WorkspaceContext value={{ ...opened, ...data, paused, setPaused }}>
      <Frame>
        <Outlet />
      </Frame>
    </WorkspaceContext>
  )
}

/** Keeps the place of the frame while it loads, so that nothing moves when it comes. */
function Closed({ opening }: { opening: Exclude<Opening, { kind: 'open' }> }) {
  if (opening.kind === 'loading') return <Banner />
  const { code } = opening.error
  if (code === 'TEAM_NOT_FOUND' || code === 'VALIDATION_ERROR' || code === 'NOT_FOUND') return <NotFound />
  return (
    <>
      <Banner />
      <Notice text={code === 'OFFLINE' ? words.offline : reasonOf(opening.error)} />
    </>
  )
}
