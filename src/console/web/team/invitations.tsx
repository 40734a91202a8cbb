// The open invitations of a team.
import { InvitationsDocument, RevokeInvitationDocument } from '../generated/team/graphql.ts'
import { ask } from '../graph/request.ts'
import { useRead } from '../graph/use-read.ts'
import { useRefresh } from '../graph/use-refresh.ts'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { Row, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { text } from './words.ts'

export function Invitations({ teamId }: { teamId: string }) {
  const { data, error, loading, again } = useRead(InvitationsDocument, { id: teamId })
  // No event tells that one was accepted.
  useRefresh(!error, again, 10_000)
  const revoke = useTask(async (id: string) => {
    await ask(teamId, RevokeInvitationDocument, { teamId, id })
    again()
  })
  const open = (data?.team?.invitations ?? []).filter(({ status }) => status === 'pending')
  return (
    <>
      <Refusal error={revoke.error ?? error} />
      <Table
        name={text.invitations}
        columns={[words.fields.email, text.role, text.expires, text.actions]}
        loading={loading}
        failed={error !== undefined}
        empty={<p>{text.noInvitations}</p>}
      >
        {open.map(({ id, email, role, expiresAt }) => (
          <Row
            key={id}
            cells={[
              email,
              text.roles[role],
              <Time key="expires" at={expiresAt} />,
              <button
                key="revoke"
                type="button"
                className={parts.button}
                disabled={revoke.running}
                aria-label={text.of(text.withdraw, email)}
                onClick={() => revoke.run(id)}
              >
                {text.withdraw}
              </button>,
            ]}
          />
        ))}
      </Table>
    </>
  )
}
