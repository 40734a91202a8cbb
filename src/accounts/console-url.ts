// Where the console is, whose pages links in mails and sign-ins lead to.
import type { App } from '../core/app.ts'

/** Without a slash at the end. */
export function consoleUrl(app: Pick<App, 'config'>): string {
  return (app.config.consoleUrl ?? app.config.publicUrl ?? '').replace(/\/$/, '')
}
