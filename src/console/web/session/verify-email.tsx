// Verifies an address. Asks for the password of the sign-up, so that the mail of a sign-up by someone else verifies nothing.
import { useState } from 'react'
import { To } from '../navigation.tsx'
import { TextField } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { post } from './auth-call.ts'
import { mailToken } from './mail-token.ts'
import { text } from './words.ts'

export function VerifyEmail() {
  const [done, setDone] = useState(false)
  const task = useTask(async (form: FormData) => {
    await post('verify-email', { token: mailToken ?? '', password: form.get('password') })
    setDone(true)
  })
  const { verify, signIn } = text
  return (
    <Page title={verify.title}>
      {!done && (
        <form className={parts.stack} onSubmit={submits(task.run)}>
          <TextField
            label={words.fields.password}
            name="password"
            type="password"
            autoComplete="current-password"
            maxLength={128}
            hint={verify.hint}
            required
            autoFocus
            issues={task.issues}
          />
          <Refusal error={task.error} />
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {verify.submit}
          </button>
        </form>
      )}
      <p role="status" className={parts.note}>
        {done ? verify.done : ''}
      </p>
      <To to="/sign-in">{signIn.title}</To>
    </Page>
  )
}
