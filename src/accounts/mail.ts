// Mail: written down with what it is about, sent by a job, over SMTP or into a folder.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { createTransport } from 'nodemailer'
import type { App } from '../core/app.ts'
import { type Sql, transaction } from '../core/database.ts'
import { newId } from '../core/id.ts'
import { enqueue, implementJob, type JobImplementation } from '../core/jobs.ts'
import { consoleUrl } from './console-url.ts'
import { mailJob } from './mail-job.ts'
import { composeMail, type MailOrder, type MailText } from './mail-texts.ts'

interface Mail extends MailText {
  to: string
}

/** Orders a mail in the caller's transaction: it leaves if that commits, and only then. */
export async function orderMail(app: App, tx: Sql, order: MailOrder): Promise<void> {
  const id = newId()
  // Its token is worth an account, so it lies sealed.
  const content = app.sealer.seal(JSON.stringify({ to: order.to, ...composeMail(order, consoleUrl(app)) }))
  await tx.query('insert into mails (id, content) values ($1, $2)', [id, content])
  await enqueue(app, tx, mailJob, [{ data: { id } }])
}

/** {@link orderMail} in a transaction of its own. */
export async function sendMail(app: App, order: MailOrder): Promise<void> {
  await transaction(app.pool, (tx) => orderMail(app, tx, order))
}

export const mailImplementation: JobImplementation = implementJob(mailJob, { batchSize: 5, workers: 1 }, async (app, jobs) => {
  const settled = await Promise.allSettled(jobs.map(({ id }) => deliver(app, id)))
  return settled.map((result) => (result.status === 'rejected' ? (result.reason as Error) : undefined))
})

async function deliver(app: App, id: string): Promise<void> {
  const { rows } = await app.pool.query<{ content: Buffer }>('select content from mails where id = $1', [id])
  // Sent by a process that died before it could say so.
  if (!rows[0]) return
  const mail = JSON.parse(app.sealer.open(rows[0].content).toString()) as Mail
  const { smtpUrl } = app.secrets
  // The id is the same on every attempt, so that a mailbox can tell a mail that comes twice.
  const messageId = `<${id}@${hostOf(app)}>`
  if (smtpUrl) await (await transportTo(smtpUrl)).sendMail({ ...mail, from: app.config.mailFrom, messageId })
  else await keep(app, id, mail)
  await app.pool.query('delete from mails where id = $1', [id])
}

/** One for each server, so that mails share its connections. */
const transports = new Map<string, ReturnType<typeof createTransport>>()

async function transportTo(smtpUrl: string): Promise<ReturnType<typeof createTransport>> {
  const nodemailer = await import('nodemailer')
  let transport = transports.get(smtpUrl)
  if (!transport) {
    transport = nodemailer.createTransport({
      url: smtpUrl,
      pool: true,
      maxConnections: 2,
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 20_000,
    })
    transports.set(smtpUrl, transport)
  }
  return transport
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

function hostOf(app: App): string {
  return new URL(app.config.publicUrl ?? 'http://localhost').hostname
}
