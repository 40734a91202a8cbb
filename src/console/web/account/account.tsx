// The person's own page: sessions, password, language, theme and time zone.
import { useState } from 'react'
import { pathIn, To } from '../navigation.tsx'
import { applyTheme, prefer, preference, themes } from '../preferences.ts'
import { post } from '../session/auth-call.ts'
import { accessToken } from '../session/session.ts'
import { useWorkspace } from '../shell/workspace-context.ts'
import { Choice, NewPasswordField, TextField } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { chosenLanguage, languages, words } from '../words/words.ts'
import { DeleteAccount } from './delete-account.tsx'
import { Sessions } from './sessions.tsx'
import { text as account } from './words.ts'

export function Account() {
  const { me } = useWorkspace()
  return (
    <Page title={account.title} narrow>
      <dl className={parts.details}>
        <dt>{words.fields.name}</dt>
        <dd>{me.name}</dd>
        <dt>{words.fields.email}</dt>
        <dd>{me.email}</dd>
        <dt>{account.plan}</dt>
        <dd>
          <To to={pathIn(null, 'billing')}>{me.plan.name}</To>
        </dd>
      </dl>
      <Appearance />
      <Sessions
        below={
          <>
            <ChangePassword />
            <DeleteAccount />
          </>
        }
      />
    </Page>
  )
}

function Appearance() {
  const [theme, setTheme] = useState(preference('theme') ?? 'auto')
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <section className={parts.panel} aria-label={account.appearance}>
      <div className={parts.panelHead}>
        <h2>{account.appearance}</h2>
      </div>
      <div className={`${parts.panelBody} ${parts.stack}`}>
        <Choice
          label={account.language}
          name="language"
          value={chosenLanguage()}
          onChange={(event) => {
            prefer('language', event.target.value)
            location.reload()
          }}
        >
          {Object.entries(languages).map(([tag, name]) => (
            <option key={tag} value={tag}>
              {name}
            </option>
          ))}
        </Choice>
        <Choice
          label={account.theme}
          name="theme"
          value={theme}
          onChange={(event) => {
            applyTheme(event.target.value)
            setTheme(event.target.value)
          }}
        >
          {themes.map((name) => (
            <option key={name} value={name}>
              {account.themes[name]}
            </option>
          ))}
        </Choice>
        <Choice
          label={account.zone}
          name="zone"
          value={preference('zone') ?? ''}
          onChange={(event) => {
            prefer('zone', event.target.value || null)
            location.reload()
          }}
        >
          <option value="">{account.local(own)}</option>
          <option value="UTC">UTC</option>
          {Intl.supportedValuesOf('timeZone').map((zone) => (
            <option key={zone} value={zone}>
              {zone.replaceAll('_', ' ')}
            </option>
          ))}
        </Choice>
      </div>
    </section>
  )
}

function ChangePassword() {
  const [done, setDone] = useState(false)
  const task = useTask(async (form: FormData) => {
    setDone(false)
    await post('password/change', Object.fromEntries(form), await accessToken())
    setDone(true)
  })
  return (
    <section className={parts.panel} aria-label={account.changePassword}>
      <div className={parts.panelHead}>
        <h2>{account.changePassword}</h2>
      </div>
      <form className={`${parts.panelBody} ${parts.stack}`} onSubmit={submits(task.run)}>
        <TextField
          label={account.current}
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          maxLength={128}
          required
          issues={task.issues}
        />
        <NewPasswordField label={account.newPassword} name="newPassword" issues={task.issues} />
        <Refusal error={task.error} />
        <p role="status" className={parts.note}>
          {done ? account.changed : ''}
        </p>
        <div className={parts.row}>
          <button type="submit" className={parts.button} disabled={task.running}>
            {account.changePassword}
          </button>
        </div>
      </form>
    </section>
  )
}
