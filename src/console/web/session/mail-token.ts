// The token of the link in a mail. It leaves the address at once, so that neither the browser's history nor a sign-in in between keeps it.
import { settings } from '../settings.ts'

function takeMailToken(): string | null {
  const page = location.pathname.slice(settings.base.length)
  if (!['/verify-email', '/reset-password', '/invitation'].includes(page)) return null
  const token = new URLSearchParams(location.search).get('token')
  history.replaceState(history.state, '', location.pathname)
  return token
}

/** Null if the page was opened without one. */
export const mailToken = takeMailToken()

/** That path with the token, if it is the page of an invitation: for a sign-in that leaves this page, and comes back to it. */
export function withMailToken(path: string): string {
  return mailToken && path === '/invitation' ? `${path}?${new URLSearchParams({ token: mailToken })}` : path
}
