// Accepts an invitation to a team. Its reader is signed in: the address of the account must be the invited one.
import { useEffect, useState } from 'react'
import { AcceptInvitationDocument, InvitedTeamDocument } from '../generated/session/graphql.ts'
import { askPatiently } from '../graph/ask-patiently.ts'
import { ask } from '../graph/request.ts'
import { pathIn, useGo } from '../navigation.tsx'
import { Page } from '../ui/page.tsx'
import parts from '../ui/parts.module.css'
import { Refusal } from '../ui/refusal.tsx'
import { useTask } from '../ui/use-task.ts'
import { ApiError } from './auth-call.ts'
import { mailToken } from './mail-token.ts'
import { signOut } from './session.ts'
import { text } from './words.ts'

export function Invitation() {
  const go = useGo()
  const task = useTask(async () => {
    const { acceptTeamInvitation } = await ask(null, AcceptInvitationDocument, { token: mailToken ?? '' })
    go(pathIn(acceptTeamInvitation.id))
  })
  const [team, setTeam] = useState<string | null>(null)
  const [unread, setUnread] = useState<unknown>(null)
  useEffect(() => {
    if (!mailToken) return
    const token = mailToken
    return askPatiently(
      () => ask(null, InvitedTeamDocument, { token }),
      ({ invitedTeamName }) => {
        setTeam(invitedTeamName)
        setUnread(null)
      },
      setUnread,
    )
  }, [])
  const { invitation } = text
  if (!mailToken) {
    return (
      <Page title={invitation.title}>
        <p>{invitation.missing}</p>
      </Page>
    )
  }
  const isOfAnother = task.error instanceof ApiError && task.error.code === 'FORBIDDEN'
  return (
    <Page title={invitation.title}>
      {team && <p>{invitation.to(team)}</p>}
      <Refusal error={task.error ?? unread} reasons={invitation.reasons} />
      {isOfAnother && (
        <button type="button" className={parts.button} onClick={() => void signOut()}>
          {invitation.another}
        </button>
      )}
      <button type="button" className={`${parts.button} ${parts.main}`} disabled={task.running} onClick={() => task.run()}>
        {invitation.submit}
      </button>
    </Page>
  )
}
