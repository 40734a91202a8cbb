// Signs in: by password, by single sign-on, or by a link that works once.

import { Navigate } from '@tanstack/react-router'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { safeNext, To, useAddress } from '../navigation.tsx'
import { prefer } from '../preferences.ts'
import { settings } from '../settings.ts'
import { TextField } from '../ui/field.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { submits, useTask } from '../ui/use-task.ts'
import { words } from '../words/words.ts'
import { ApiError, post } from './auth-call.ts'
import { withMailToken } from './mail-token.ts'
import { begin, onPhase, phaseOf } from './session.ts'
import { text } from './words.ts'

export function SignIn() {
  const phase = useSyncExternalStore(onPhase, phaseOf)
  const [{ next, error }] = useAddress()
  const [token, setToken] = useState(tokenOfLink)
  const [address, setAddress] = useState('')
  const task = useTask(async (form: FormData) => {
    const email = String(form.get('email'))
    setAddress(email)
    await begin('login', { email, password: form.get('password') })
  })
  // A link may be of another account than the one that is signed in.
  if (phase === 'in' && !token) return <GoOn to={safeNext(next)} />
  const { signIn } = text
  const unverified = task.error instanceof ApiError && task.error.code === 'EMAIL_NOT_VERIFIED'
  return (
    <Page title={signIn.title}>
      {token && <Redeem token={token} end={() => setToken(null)} />}
      {error && (
        <p role="alert" className={`${parts.note} ${parts.refused}`}>
          {signIn.failed} {Object.hasOwn(signIn.reasons, error) && signIn.reasons[error]}
        </p>
      )}
      <form className={parts.stack} onSubmit={submits(task.run)}>
        <TextField
          label={words.fields.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          issues={task.issues}
        />
        <TextField
          label={words.fields.password}
          name="password"
          type="password"
          autoComplete="current-password"
          maxLength={128}
          required
          issues={task.issues}
        />
        <Refusal error={task.error} />
        {unverified && <SendAgain email={address} />}
        <button type="submit" className={`${parts.button} ${parts.main}`} disabled={task.running}>
          {signIn.submit}
        </button>
      </form>
      {settings.provider && (
        <button type="button" className={parts.button} onClick={() => leaveFor(settings.provider as string, safeNext(next))}>
          {signIn.sso}
        </button>
      )}
      <div className={parts.row}>
        <To to="/sign-up">{signIn.create}</To>
        <To to="/reset-password">{signIn.forgot}</To>
      </div>
    </Page>
  )
}

/** The gateway redirects to the identity provider, and that one back to the page that asked for the sign-in. */
function leaveFor(provider: string, next: string): void {
  prefer('known', '1')
  const query = next === '/' ? '' : `?${new URLSearchParams({ next: withMailToken(next) })}`
  location.assign(`${settings.base}/api/auth/oauth/${encodeURIComponent(provider)}${query}`)
}

function GoOn({ to }: { to: string }) {
  const url = new URL(to, location.origin)
  return <Navigate to={url.pathname as '/'} search={Object.fromEntries(url.searchParams) as never} replace />
}

/** The token of a link is in the fragment, which no server sees. It leaves the address, so that the history does not keep it. */
function tokenOfLink(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('once')
  if (token) history.replaceState(history.state, '', location.pathname + location.search)
  return token
}

function Redeem({ token, end }: { token: string; end: () => void }) {
  const task = useTask(async () => {
    try {
      await begin('login/link', { token })
    } catch (error) {
      // Somebody who is signed in stays so.
      if (phaseOf() === 'out') throw error
    }
    end()
  })
  const { run } = task
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each link.
  useEffect(() => void run(), [token])
  if (task.error) return <Refusal error={task.error} />
  return (
    <p role="status" className={parts.note}>
      {text.signIn.redeeming}
    </p>
  )
}

function SendAgain({ email }: { email: string }) {
  const [sent, setSent] = useState(false)
  const task = useTask(async () => {
    await post('verify-email/resend', { email })
    setSent(true)
  })
  return (
    <>
      <Refusal error={task.error} />
      {sent ? (
        <p role="status">{text.signIn.verifySent}</p>
      ) : (
        <button type="button" className={parts.button} disabled={task.running} onClick={() => task.run()}>
          {text.signIn.verifyAgain}
        </button>
      )}
    </>
  )
}
