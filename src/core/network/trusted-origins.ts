// Origins that CORS and the sign-in routes trust.
import type { App } from '../app.ts'

/** The origins whose pages may call the gateway, with the cookie of who is signed in there. */
export function trustedOrigins({ config: { publicUrl, consoleUrl } }: App): string[] {
  return [publicUrl, consoleUrl].flatMap((url) => (url ? [new URL(url).origin] : []))
}
