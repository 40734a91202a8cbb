// The way out of mail: over SMTP, or into a folder.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Transporter } from 'nodemailer'
import type { App } from '../../core/app.ts'
import type { MailText } from './texts.ts'

export interface Mail extends MailText {
  to: string
  /** The same on every attempt, so that a mailbox can tell a mail that comes twice. */
  messageId: string
}

export interface Mailer extends AsyncDisposable {
  /** `id` names the file, where there is no mail server. @throws what the server answers, or the folder. */
  send: (id: string, mail: Mail) => Promise<void>
}

declare module '../../core/app.ts' {
  interface App {
    mailer: Mailer
  }
}

/** For one mail, and its wait for a connection. */
const usualMs = 60_000

/** Disposing of it closes its connections. A mail that is not sent within `wholeMs` fails, and its connection is closed. */
export function createMailer(app: App, wholeMs = usualMs): Mailer {
  const { smtpUrl } = app.secrets
  /** One for all mails, so that they share its connections. */
  let transport: Promise<Transporter> | undefined
  return {
    async send(id, mail) {
      if (!smtpUrl) return await keep(app, id, mail)
      transport ??= connect(smtpUrl)
      // The timeouts of the connection begin anew with every byte, so a server that drips would hold it for ever.
      const signal = AbortSignal.timeout(wholeMs)
      await (await transport).sendMail({ ...mail, from: app.config.mailFrom, signal })
    },
    async [Symbol.asyncDispose]() {
      ;(await transport)?.close()
    },
  }
}

/** Loaded with the first mail: a process that does other work never needs it. */
async function connect(smtpUrl: string): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  return createTransport({
    url: smtpUrl,
    pool: true,
    maxConnections: 2,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  })
}

/**
 * Whether an error of `send` says that there is no such mailbox, by RFC 3463's codes of addresses (5.1.1, …). A bare 550 does not: many
 * servers say it of a setting that their operator mends in an hour.
 */
export function saysNoSuchMailbox(error: unknown): boolean {
  const { response } = error as { response?: unknown }
  return typeof response === 'string' && /^5\d\d[ -]5\.1\.(1|2|3|6|10)\b/.test(response)
}

/** Without a mail server: the folder where whoever runs this on their own machine reads their mail. */
async function keep(app: App, id: string, { to, subject, text }: Mail): Promise<void> {
  const folder = path.join(app.config.dataDir, 'mail')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, `${id}.txt`)
  await writeFile(`${file}.part`, `To: ${to}\nSubject: ${subject}\n\n${text}`, { mode: 0o600 })
  await rename(`${file}.part`, file)
  app.log.info({ mail: file }, 'no SMTP_URL: a mail was written to a file')
}
