// Sets a new password with the token of a mail, or asks for such a mail.
import { useState } from 'react'
import { To } from '../navigation.tsx'
import { NewPasswordField, TextField } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { post } from './auth-call.ts'
import { mailToken } from './mail-token.ts'
import { text } from './words.ts'

export function ResetPassword() {
  const [done, setDone] = useState('')
  const { reset, signIn } = text
  const task = useTask(async (form: FormData) => {
    if (mailToken) await post('password/reset', { token: mailToken, password: form.get('password') })
    else await post('password/forgot', { email: form.get('email') })
    setDone(mailToken ? reset.done : reset.asked)
  })
  return (
    <Page title={reset.title}>
      {!done && (
        <form className={parts.stack} onSubmit={submits(task.run)}>
          {mailToken ? (
            <NewPasswordField label={reset.newPassword} name="password" autoFocus issues={task.issues} />
          ) : (
            <TextField
              label={words.fields.email}
              name="email"
              type="email"
              autoComplete="username"
              required
              autoFocus
              issues={task.issues}
            />
          )}
          <Refusal error={task.error} />
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {mailToken ? reset.submit : reset.ask}
          </button>
        </form>
      )}
      <p role="status" className={parts.note}>
        {done}
      </p>
      <To to="/sign-in">{signIn.title}</To>
    </Page>
  )
}
