// The frame around every page of a workspace.
import { Outlet } from '@tanstack/react-router'
import { useState } from 'react'
import { Provider } from 'urql'
import type { Team } from '../graph/request.ts'
import { usePart } from '../navigation.tsx'
import { words } from '../words/words.ts'
import { Banner, Frame } from './frame.tsx'
import { NotFound } from './not-found.tsx'
import { Notice } from './notice.tsx'
import { type Opening, useOpening } from './open-workspace.ts'
import { WorkspaceContext } from './workspace-context.ts'

export function Workspace() {
  const team = usePart('teamId') || null
  // Another workspace is another cache, another stream and another page.
  return <Opener key={team} team={team} />
}

function Opener({ team }: { team: Team }) {
  const opening = useOpening(team)
  const [paused, setPaused] = useState(false)
  if (opening.kind !== 'open') return <Closed opening={opening} />
  const workspace = { ...opening.workspace, paused, setPaused }
  return (
    <WorkspaceContext value={workspace}>
      <Provider value={workspace.graph.client}>
        <Frame>
          <Outlet />
        </Frame>
      </Provider>
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
      <Notice text={code === 'OFFLINE' ? words.offline : opening.error.message || words.errors.SERVICE_UNAVAILABLE} />
    </>
  )
}
