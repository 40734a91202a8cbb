// Mail: written down with what it is about, sent by a job.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { enqueue, implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { takeMail } from './budget.ts'
import { consoleUrl } from './console-url.ts'
import { mailJob } from './mail-job.ts'
import { type Mail, saysNoSuchMailbox } from './mailer.ts'
import { composeMail, type MailOrder } from './texts.ts'

/**
 * Orders a mail in the caller's transaction: it leaves if that commits, and only then. Not where the address has had as many of its kind
 * as it may: then it answers the seconds until there may be another, else null. Who must not tell the one from the other ignores that.
 */
export async function orderMail(app: App, tx: Sql, order: MailOrder): Promise<number | null> {
  const waitSeconds = await takeMail(tx, order)
  if (waitSeconds !== null) return waitSeconds
  const id = newId()
  const console = consoleUrl(app)
  const mail: Mail = { to: order.to, ...composeMail(order, console), messageId: `<${id}@${new URL(console).hostname}>` }
  // Its token is worth an account, so it lies sealed.
  await tx.query('insert into mails (id, content) values ($1, $2)', [id, app.sealer.seal(JSON.stringify(mail))])
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
  // What nobody will send any more is not kept either.
  (app, { id }) => forget(app, id),
)

async function deliver(app: App, id: string): Promise<void> {
  const { rows } = await app.pool.query<{ content: Buffer }>('select content from mails where id = $1', [id])
  // Sent by a process that died before it could say so.
  if (!rows[0]) return
  try {
    await app.mailer.send(id, JSON.parse(app.sealer.open(rows[0].content).toString()) as Mail)
  } catch (error) {
    if (!saysNoSuchMailbox(error)) throw error
    // Asked again and again, a server takes whoever asks for a spammer.
    app.log.warn({ mail: id }, 'a mail was given up: its server says that there is no such mailbox')
  }
  await forget(app, id)
}

async function forget(app: App, id: string): Promise<void> {
  await app.pool.query('delete from mails where id = $1', [id])
}
