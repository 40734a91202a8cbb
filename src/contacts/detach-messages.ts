// Deletes contacts with very many messages: takes the messages from them in short transactions before.
import type { App } from '../core/app.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { ServiceAway } from '../core/public-failure.ts'
import { detachMessages } from './groups/membership.sql.ts'

/**
 * Messages that lose their contact in one transaction. Their row locks, and that of the contact, hold up every request whose messages are
 * accepted, sent or reported together with one to this contact: 400,000 at once took 34 s.
 */
export const detachedAtOnce = 2_000

/** The contacts of a deletion have more messages than {@link detachedAtOnce} that can be taken from them. */
export class ManyMessages extends ServiceAway {
  readonly contactIds: readonly string[]

  constructor(contactIds: readonly string[]) {
    super('the contacts have too many messages for one transaction')
    this.contactIds = contactIds
  }
}

/**
 * Runs `work`, a transaction that deletes contacts. If they have too many messages, takes most of these from them and runs it again. If the
 * process dies in between, the contacts stay, and the same request goes on with the rest.
 * @throws ManyMessages when the process stops in between.
 */
export async function withFewMessages<T>(app: App, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ManyMessages) || app.stopping) throw error
      let detached: number
      const { contactIds } = error
      do detached = await sqlTransaction(app.pool, (tx) => detachMessages(tx, contactIds, detachedAtOnce))
      while (detached === detachedAtOnce && !app.stopping)
    }
  }
}
