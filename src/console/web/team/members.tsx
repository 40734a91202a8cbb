// The members of a team, with the actions on each.
import { useState } from 'react'
import { ChangeMemberDocument, RemoveMemberDocument } from '../generated/team/graphql.ts'
import { ask } from '../graph/request.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Confirm } from '../ui/confirm.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import type { ShownTeam } from './shown-team.ts'
import { text } from './words.ts'

type Member = ShownTeam['members'][number]

export function Members({ team: { id: teamId, role, members }, again }: { team: ShownTeam; again: () => void }) {
  const { me } = useWorkspace()
  const [removing, setRemoving] = useState<Member | null>(null)
  const turn = useTask(async ({ userId, role: now }: Member) => {
    const input = { role: now === 'admin' ? ('collaborator' as const) : ('admin' as const) }
    await ask(teamId, ChangeMemberDocument, { teamId, userId, input })
    again()
  })
  const mayChange = ({ userId, role: theirs }: Member) => role !== 'collaborator' && theirs !== 'owner' && userId !== me.id
  return (
    <>
      <Refusal error={turn.error} />
      <Table
        name={text.members}
        columns={[words.fields.name, words.fields.email, text.role, text.joined, text.actions]}
        loading={false}
        empty={null}
      >
        {members.map((member) => (
          <Row
            key={member.userId}
            cells={[
              <strong key="name">{member.name}</strong>,
              member.email,
              text.roles[member.role],
              <Time key="joined" at={member.joinedAt} />,
              mayChange(member) ? (
                <div key="actions" className={parts.row}>
                  <button
                    type="button"
                    className={parts.button}
                    aria-label={text.of(turnOf(member), member.name)}
                    disabled={turn.running}
                    onClick={() => turn.run(member)}
                  >
                    {turnOf(member)}
                  </button>
                  <button
                    type="button"
                    className={parts.button}
                    aria-label={text.remove(member.name)}
                    onClick={() => setRemoving(member)}
                  >
                    {text.removeNow}
                  </button>
                </div>
              ) : (
                words.none
              ),
            ]}
          />
        ))}
      </Table>
      {removing && (
        <Confirm
          title={text.remove(removing.name)}
          action={text.removeNow}
          act={async () => {
            await ask(teamId, RemoveMemberDocument, { teamId, userId: removing.userId })
            again()
          }}
          close={() => setRemoving(null)}
        >
          {text.removeNote}
        </Confirm>
      )}
    </>
  )
}

function turnOf({ role }: Member): string {
  return role === 'admin' ? text.makeCollaborator : text.makeAdmin
}
