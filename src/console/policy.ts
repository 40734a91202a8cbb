// The Content-Security-Policy of the console. It has no nonce, because the shell is a static file.
import { createHash } from 'node:crypto'

/** Returns the policy. `inline` are the inline scripts of the shell, which it allows by their hashes. */
export function policyFor(inline: readonly string[]): string {
  const hashes = inline.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`)
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(' '),
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
}
