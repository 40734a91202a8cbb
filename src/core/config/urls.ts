// Formats of the URLs in the configuration.
import { z } from 'zod'

/** A URL with one of these schemes. */
export const url = (...schemes: string[]) =>
  z.url({
    protocol: new RegExp(`^(${schemes.join('|')})$`),
    error: `must be a valid address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  })

/**
 * The URL of a PostgreSQL database. Without a host, as `postgres://user:password@/name?host=/run/postgresql`, it leads to a socket; the driver
 * reads that, URL does not.
 */
export const database = z
  .string()
  .trim()
  .refine((text) => /^postgres(ql)?:\/\//i.test(text) && URL.canParse(text.replace('@/', '@localhost/')), {
    error:
      'must be a valid address that begins with postgres:// or postgresql://, with special characters of user and password in percent-encoding (@ is %40)',
  })

/** True for a scheme and a host, with a port if it is not the usual one, and nothing else. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}

function isWithout(text: string, forbidden: RegExp): boolean {
  const { username, password } = new URL(text)
  return !forbidden.test(text) && !username && !password
}

/** A URL to which paths are appended, in canonical form and without its trailing slash. `parts` are those that it must not have. */
const appendable = (parts: string, forbidden: RegExp) =>
  url('http', 'https')
    // It also runs on what is no URL, which has been refused.
    .refine((text) => !URL.canParse(text) || isWithout(text, forbidden), `must have no ${parts}`)
    .transform((text) => new URL(text).href.replace(/\/+$/, ''))

export const base = appendable('user, password, query or fragment', /[?#]/)
/** Consoles that keep their page in the fragment end with `#`. */
export const consoleBase = appendable('user, password or query', /\?/)
