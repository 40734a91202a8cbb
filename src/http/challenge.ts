// The challenge of a 401 (RFC 9110, section 11.6.1): names the header that the path takes a credential in.

const [key, token] = ['ApiKey header="x-api-key"', 'Bearer']

/** The value of `WWW-Authenticate`; undefined for a path without credentials of ours. */
export function challengeOf(url: string): string | undefined {
  if (url.startsWith('/api/v1/')) return key
  if (url.startsWith('/api/') || url.startsWith('/metrics')) return token
  return url.startsWith('/graphql') ? `${key}, ${token}` : undefined
}
