// Sends mail over SMTP, or writes it to a folder if there is no mail server.
import type { Transporter } from 'nodemailer'
import type { App } from '../../core/app.ts'
import { hourMs } from '../../core/durations.ts'
import { definePart } from '../../core/part.ts'
import { clearMail, keepMail } from './kept-mail.ts'
import type { MailText } from './texts.ts'

export interface Mail extends MailText {
  to: string
  /** The same on every attempt, so that mailboxes can deduplicate retries. */
  messageId: string
}

export interface Mailer extends AsyncDisposable {
  /** `id` names the file that replaces the mail server, if there is none. @throws the error of the mail server or of the file system. */
  send: (id: string, mail: Mail) => Promise<void>
}

const clearEveryMs = hourMs

/** Time limit for one mail, including its wait for a connection. */
const usualMs = 60_000

export const mailer = definePart((app) => createMailer(app))

/** Disposing of the mailer closes its connections. A mail that is not sent within `wholeMs` fails, and its connection is closed. */
export function createMailer(app: App, wholeMs = usualMs): Mailer {
  const { smtpUrl } = app.secrets
  /** One pooled transport for all mails, so that they share its connections. */
  let transport: Promise<Transporter> | undefined
  const clear = () => {
    clearMail(app.config.dataDir).catch((err: Error) => app.log.warn({ err }, 'old mails could not be deleted'))
  }
  clear()
  const timer = setInterval(clear, clearEveryMs).unref()
  return {
    async send(id, mail) {
      if (!smtpUrl) return await keep(app, id, mail)
      transport ??= connect(smtpUrl)
      // The timeouts of the connection restart with every byte, so a server that sends single bytes slowly would hold it forever.
      const signal = AbortSignal.timeout(wholeMs)
      await (await transport).sendMail({ ...mail, from: app.config.mailFrom, signal })
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      ;(await transport)?.close()
    },
  }
}

/** Loads nodemailer with the first mail, so that processes that send no mail never load it. */
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
 * True if an error of `send` says that the mailbox does not exist, by the address status codes of RFC 3463 (5.1.1, …). A bare 550 does not
 * count: many servers send it for a misconfiguration that their operator fixes within an hour.
 */
export function saysNoSuchMailbox(error: unknown): boolean {
  const { response } = error as { response?: unknown }
  return typeof response === 'string' && /^5\d\d[ -]5\.1\.(1|2|3|6|10)\b/.test(response)
}

/** Without a mail server: writes the mail to a folder, for people who run the gateway on their own machine. */
async function keep(app: App, id: string, { to, subject, text }: Mail): Promise<void> {
  const file = await keepMail(app.config.dataDir, id, `To: ${to}\nSubject: ${subject}\n\n${text}`)
  app.log.info({ mail: file }, 'no SMTP_URL: a mail was written to a file')
}
