// The token of the link in a mail. It leaves the address, so that the browser's history does not keep it.

export function takeMailToken(): string | null {
  const query = new URLSearchParams(location.search)
  const token = query.get('token')
  if (token) history.replaceState(history.state, '', location.pathname)
  return token
}
