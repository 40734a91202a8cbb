// Lets only people who are signed in see a page; others sign in first and come back.
import { Navigate, Outlet } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import { useAddress, usePath } from '../navigation.tsx'
import { onPhase, phaseOf } from '../session/session.ts'

export function RequireSession() {
  const phase = useSyncExternalStore(onPhase, phaseOf)
  if (phase === 'in') return <Outlet />
  return <SignInFirst />
}

function SignInFirst() {
  const path = usePath()
  const [search] = useAddress()
  const query = new URLSearchParams(search as Record<string, string>).toString()
  return <Navigate to={'/sign-in' as '/'} search={{ next: query ? `${path}?${query}` : path } as never} replace />
}

/** `/`: single sign-on and payments lead here too, with their outcome in the search part. */
export function Start() {
  const phase = useSyncExternalStore(onPhase, phaseOf)
  const [search] = useAddress()
  const { checkout } = search
  if (phase === 'in' && checkout) return <Navigate to={'/billing' as '/'} search={{ checkout } as never} replace />
  if (phase === 'in') return <Navigate to={'/me' as '/'} replace />
  return <Navigate to={'/sign-in' as '/'} search={(search.error ? { error: search.error } : {}) as never} replace />
}
