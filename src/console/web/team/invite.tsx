// The dialog that invites somebody to a team by mail.
import { useRef } from 'react'
import { InviteDocument, type TeamRole } from '../generated/team/graphql.ts'
import { newIdempotencyKey } from '../graph/change.ts'
import { ask } from '../graph/request.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Choice, TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { text } from './words.ts'

const roles: readonly TeamRole[] = ['collaborator', 'admin']

export function Invite({ teamId, invited, close }: { teamId: string; invited: () => void; close: () => void }) {
  const idempotencyKey = useRef(newIdempotencyKey())
  const task = useTask(async (fields: FormData) => {
    const { email, role } = Object.fromEntries(fields) as { email: string; role: TeamRole }
    await ask(teamId, InviteDocument, { teamId, input: { email, role, idempotencyKey: idempotencyKey.current } })
    invited()
    close()
  })
  return (
    <Dialog title={text.invite} close={close}>
      <form
        className={parts.stack}
        noValidate
        onSubmit={submits(task.run)}
        onChange={() => {
          idempotencyKey.current = newIdempotencyKey()
        }}
      >
        <TextField label={words.fields.email} name="email" type="email" autoComplete="off" issues={task.issues} />
        <Choice label={text.role} name="role" issues={task.issues}>
          {roles.map((role) => (
            <option key={role} value={role}>
              {text.roles[role]}
            </option>
          ))}
        </Choice>
        <p className={parts.hint}>{text.rolesNote}</p>
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {text.send}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
