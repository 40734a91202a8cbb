// A team: its members with their roles, its invitations, and its end.
import { useState } from 'react'
import { DeleteTeamDocument, LeaveTeamDocument, RenameTeamDocument, TeamPageDocument } from '../generated/team/graphql.ts'
import { change } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import { settings } from '../settings.ts'
import { NotFound } from '../shell/not-found.tsx'
import { useWorkspace } from '../shell/workspace-context.ts'
import { AddButton } from '../ui/add-button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Rename } from '../ui/rename.tsx'
import { count, words } from '../words/words.ts'
import { Invitations } from './invitations.tsx'
import { Invite } from './invite.tsx'
import { Members } from './members.tsx'
import type { ShownTeam } from './shown-team.ts'
import { text } from './words.ts'

/** Only a team has this page, a person's own workspace has none. */
export function Team() {
  const { team } = useWorkspace()
  const { data, error, again } = useRead(TeamPageDocument, { id: team ?? '' }, { pause: team === null })
  // No event tells of members and their roles.
  useRefresh(team !== null && !error, again, 10_000)
  if (team === null) return <NotFound />
  if (data?.team) return <Shown team={data.team} error={error} again={again} />
  return <Page title={text.title}>{error ? <Refusal error={error} /> : words.loading}</Page>
}

function Shown({ team, error, again }: { team: ShownTeam; error: unknown; again: () => void }) {
  const { graph } = useWorkspace()
  const [open, setOpen] = useState<'invite' | 'rename' | 'leave' | 'delete' | null>(null)
  const [invited, setInvited] = useState(0)
  const manages = team.role !== 'collaborator'
  const close = () => setOpen(null)
  return (
    <Page
      title={text.title}
      actions={
        <>
          {manages && (
            <>
              <button type="button" className={parts.button} onClick={() => setOpen('rename')}>
                {text.rename}
              </button>
              <AddButton label={text.invite} add={() => setOpen('invite')} />
            </>
          )}
          <button
            type="button"
            className={`${parts.button} ${parts.danger}`}
            onClick={() => setOpen(team.role === 'owner' ? 'delete' : 'leave')}
          >
            {team.role === 'owner' ? text.delete : text.leave}
          </button>
        </>
      }
    >
      <p className={parts.hint}>
        {team.seats ? text.seats(team.name, count(team.members.length), count(team.seats)) : team.name}
      </p>
      <Refusal error={error} />
      <Members team={team} again={again} />
      {manages && <Invitations key={invited} teamId={team.id} />}
      {open === 'invite' && <Invite teamId={team.id} invited={() => setInvited(invited + 1)} close={close} />}
      {open === 'rename' && (
        <Rename
          title={text.rename}
          name={team.name}
          save={(name) => change(graph, RenameTeamDocument, { id: team.id, name })}
          close={close}
        />
      )}
      {(open === 'leave' || open === 'delete') && <End team={team} how={open} close={close} />}
    </Page>
  )
}

function End({ team: { id }, how, close }: { team: ShownTeam; how: 'leave' | 'delete'; close: () => void }) {
  return (
    <Confirm
      title={text[how]}
      action={text[how]}
      act={async () => {
        if (how === 'leave') await ask(null, LeaveTeamDocument, { id })
        else await ask(null, DeleteTeamDocument, { id })
        // The list of workspaces in the shell is another one now.
        location.assign(`${settings.base}/me`)
      }}
      close={close}
    >
      {how === 'leave' ? text.leaveNote : text.deleteNote}
    </Confirm>
  )
}
