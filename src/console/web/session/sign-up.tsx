// Creates an account, whose address is then verified by mail.
import { useState } from 'react'
import { To } from '../navigation.tsx'
import { settings } from '../settings.ts'
import { NewPasswordField, TextField } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { post } from './auth-call.ts'
import { text } from './words.ts'

export function SignUp() {
  const [done, setDone] = useState(false)
  const task = useTask(async (form: FormData) => {
    await post('signup', Object.fromEntries(form))
    setDone(true)
  })
  const { signUp } = text
  return (
    <Page title={signUp.title}>
      {!settings.signUp && <p className={parts.note}>{signUp.closed}</p>}
      {settings.signUp && !done && (
        <form className={parts.stack} onSubmit={submits(task.run)}>
          <TextField
            label={words.fields.name}
            name="name"
            autoComplete="name"
            maxLength={100}
            required
            autoFocus
            issues={task.issues}
          />
          <TextField label={words.fields.email} name="email" type="email" autoComplete="username" required issues={task.issues} />
          <NewPasswordField label={words.fields.password} name="password" issues={task.issues} />
          <Refusal error={task.error} />
          <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
            {signUp.submit}
          </button>
        </form>
      )}
      <p role="status" className={parts.note}>
        {done ? signUp.done : ''}
      </p>
      <To to="/sign-in">{signUp.have}</To>
    </Page>
  )
}
