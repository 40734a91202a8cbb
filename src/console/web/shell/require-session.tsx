// Lets only people who are signed in see a page; others sign in first and come back.
import { Navigate, Outlet } from '@tanstack/react-router'
import { useState, useSyncExternalStore } from 'react'
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
  // Kept, because this is still shown while the sign-in page loads, when the address is that page's.
  const [next] = useState(() => {
    const query = new URLSearchParams(search as Record<string, string>).toString()
    return query ? `${path}?${query}` : path
  })
  return <Navigate to={'/sign-in' as '/'} search={{ next } as never} replace />
}

/** `/`: single sign-on and payments lead here too, with their outcome in the search part. */
export function Start() {
  const phase = useSyncExternalStore(onPhase, phaseOf)
  const [search] = useAddress()
  if (phase === 'in' && search.checkout) return <ToBilling />
  if (phase === 'in') return <Navigate to={'/me' as '/'} replace />
  return <Navigate to={'/sign-in' as '/'} search={(search.error ? { error: search.error } : {}) as never} replace />
}

/** One's own billing, with the outcome of a payment. */
export function ToBilling() {
  const [{ checkout }] = useAddress()
  return <Navigate to={'/me/billing' as '/'} search={(checkout ? { checkout } : {}) as never} replace />
}
