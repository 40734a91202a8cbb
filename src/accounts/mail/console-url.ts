// Where the console is, whose pages links in mails and sign-ins lead to.
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'

/** Without a slash at the end. @throws SERVICE_UNAVAILABLE until the server listens, where neither variable says it. */
export function consoleUrl({ config }: Pick<App, 'config'>): string {
  return config.consoleUrl ?? config.publicUrl ?? fail('SERVICE_UNAVAILABLE')
}

/** Where people begin there, and come back to. */
export function consoleHome(app: Pick<App, 'config'>): string {
  return `${consoleUrl(app)}/`
}
