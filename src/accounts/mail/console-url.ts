// URL of the web console, for links in mails and redirects of sign-ins.
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'

/**
 * Returns the URL without a trailing slash.
 * @throws SERVICE_UNAVAILABLE when the server does not listen yet and neither CONSOLE_URL nor PUBLIC_URL is set.
 */
export function consoleUrl({ config }: Pick<App, 'config'>): string {
  return config.consoleUrl ?? config.publicUrl ?? fail('SERVICE_UNAVAILABLE')
}

/** Returns the start page of the console. Identity providers send people back to it. */
export function consoleHome(app: Pick<App, 'config'>): string {
  return `${consoleUrl(app)}/`
}
