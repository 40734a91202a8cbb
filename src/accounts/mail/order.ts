// Outbox for mail: a mail is stored in the transaction that causes it, and sent by a job.
import type { App } from '../../core/app.ts'
import type { Db } from '../../core/database/database.ts'
import type { Tx } from '../../core/database/transaction.ts'
import { untilStored } from '../../core/database/until-stored.ts'
import { newId } from '../../core/id.ts'
import { enqueue, implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { takeMail } from './budget.ts'
import { consoleUrl } from './console-url.ts'
import { mailJob } from './mail-job.ts'
import { type Mail, mailer, saysNoSuchMailbox } from './mailer.ts'
import { composeMail, type MailOrder } from './texts.ts'

/**
 * Queues a mail in the caller's transaction: it is sent only if that transaction commits. Returns null if it was queued. If the address has
 * reached its limit for that kind of mail, returns the seconds until the next one may be sent. Callers that must not reveal the difference
 * ignore the result.
 */
export async function orderMail(app: App, tx: Tx, order: MailOrder): Promise<number | null> {
  const waitSeconds = await takeMail(tx, order)
  if (waitSeconds !== null) return waitSeconds
  const id = newId()
  // This mail has no link, and a process that serves no address may order it.
  const console = order.kind === 'rests' ? (app.config.consoleUrl ?? app.config.publicUrl ?? 'http://localhost') : consoleUrl(app)
  const mail: Mail = { to: order.to, ...composeMail(order, console), messageId: `<${id}@${new URL(console).hostname}>` }
  // Encrypted, because its token gives access to an account.
  await tx.db.mail.create({ data: { id, content: app.sealer.seal(JSON.stringify(mail)) } })
  await enqueue(app, tx, mailJob, [{ data: { id } }])
  return null
}

export const mailImplementation: JobImplementation = implementJob(
  mailJob,
  { batchSize: 5, workers: 1 },
  async (app, jobs) => {
    const settled = await Promise.allSettled(jobs.map(({ id }) => deliver(app, id)))
    return settled.map((result) => (result.status === 'rejected' ? (result.reason as Error) : undefined))
  },
  // A mail that has run out of retries is deleted.
  (app, { id }) => forget(app, id),
)

async function deliver(app: App, id: string): Promise<void> {
  const stored = await app.db.mail.findUnique({ where: { id } })
  // Another process sent the mail and died before it completed the job.
  if (!stored) return
  try {
    await mailer(app).send(id, JSON.parse(app.sealer.open(stored.content).toString()) as Mail)
    app.metrics.mails.inc({ outcome: 'sent' })
  } catch (error) {
    app.metrics.mails.inc({ outcome: 'failed' })
    if (!saysNoSuchMailbox(error)) throw error
    // A server that gets repeated attempts for unknown mailboxes classifies the sender as a spammer.
    app.log.warn({ mail: id }, 'a mail was not sent: there is no such mailbox')
  }
  // A mail that is sent and still stored would be sent again.
  await untilStored(app, () => forget(app, id))
}

async function forget(app: App, id: string): Promise<void> {
  await app.db.mail.deleteMany({ where: { id } })
}

/** The number of mails that are not sent yet. */
export async function countMails(db: Db): Promise<number> {
  return await db.mail.count()
}
