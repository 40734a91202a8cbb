// Ends the account, with the password as proof that its owner asks.
import { DeleteAccountDocument } from '../generated/account/graphql.ts'
import { ask } from '../graph/request.ts'
import { signOut } from '../session/session.ts'
import { TextField } from '../ui/field.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { text as account } from './words.ts'

export function DeleteAccount() {
  const task = useTask(async (fields: FormData) => {
    await ask(null, DeleteAccountDocument, { password: String(fields.get('password')) })
    await signOut()
  })
  return (
    <section className={parts.panel} aria-label={account.deleteAccount}>
      <div className={parts.panelHead}>
        <h2>{account.deleteAccount}</h2>
      </div>
      <form className={`${parts.panelBody} ${parts.stack}`} onSubmit={submits(task.run)}>
        <p className={parts.hint}>{account.deleteNote}</p>
        <TextField
          label={account.deleteProof}
          name="password"
          type="password"
          autoComplete="current-password"
          maxLength={128}
          required
          issues={task.issues}
        />
        <Refusal error={task.error} />
        <div className={parts.row}>
          <button type="submit" className={`${parts.button} ${parts.danger}`} disabled={task.running}>
            {account.deleteAccount}
          </button>
        </div>
      </form>
    </section>
  )
}
