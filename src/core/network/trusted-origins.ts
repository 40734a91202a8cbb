// Origins that CORS and the sign-in routes trust.
import type { App } from '../app.ts'

/** Returns the origins whose pages may call the gateway with the cookie of a signed-in user. */
export function trustedOrigins({ config: { publicUrl, consoleUrl, allowedOrigins } }: App): string[] {
  return [...[publicUrl, consoleUrl].flatMap((url) => (url ? [new URL(url).origin] : [])), ...allowedOrigins]
}
