// The dialog that invites somebody to a team by mail.
import { InviteDocument, type TeamRole } from '../generated/team/graphql.ts'
import { ask } from '../graph/request.ts'
import { CreateForm } from '../ui/create-form.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { useShown } from '../ui/use-shown.ts'
import { words } from '../words/words.ts'
import { text } from './words.ts'

const roles: readonly TeamRole[] = ['collaborator', 'admin']

export function Invite({ teamId, invited, close }: { teamId: string; invited: () => void; close: () => void }) {
  const shown = useShown()
  async function create(fields: FormData, idempotencyKey: string): Promise<void> {
    const { email, role } = Object.fromEntries(fields) as { email: string; role: TeamRole }
    try {
      await ask(teamId, InviteDocument, { teamId, input: { email, role, idempotencyKey } })
    } finally {
      // Without an answer it may have been made all the same.
      invited()
    }
    // Another dialog may be open by then.
    if (shown.current) close()
  }
  return (
    <Dialog title={text.invite} close={close}>
      <CreateForm submit={text.send} create={create}>
        {(issues) => (
          <>
            <TextField label={words.fields.email} name="email" type="email" autoComplete="off" issues={issues} />
            <Choice label={text.role} name="role" issues={issues}>
              {roles.map((role) => (
                <option key={role} value={role}>
                  {text.roles[role]}
                </option>
              ))}
            </Choice>
            <p className={parts.hint}>{text.rolesNote}</p>
          </>
        )}
      </CreateForm>
    </Dialog>
  )
}
