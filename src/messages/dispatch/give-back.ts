// Gives back the messages of a claim whose commit was not answered: if it was carried out, they have a lease, but nobody sends them.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { untilStored } from '../../core/database/until-stored.ts'
import { dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import { releaseUnsent, type Unsent } from './release-unsent.ts'
import { lockClaims } from './settle.sql.ts'

/**
 * Ends their leases as soon as the database takes it, and gives them jobs. Without it they would wait for the end of the lease, and then
 * end as `UNKNOWN_OUTCOME` if their network does not deduplicate. Never rejects.
 */
export async function giveBack(app: App, claimed: readonly Unsent[]): Promise<void> {
  const unsent = claimed.map((message) => ({ ...message, delayMs: 0, counts: false }))
  const write = () =>
    sqlTransaction(app.pool, async (tx) => {
      // The server may still be at the commit, as with a standby that does not confirm it: until then the leases cannot be seen.
      await lockClaims(
        tx,
        claimed.map(({ id }) => id),
      )
      const { released, withdrawn } = await releaseUnsent(app, tx, unsent)
      await returnQuota(tx, withdrawn)
      await enqueueDispatch(
        app,
        tx,
        released.map((row) => dispatchRequest(row, row.nextAttemptAt)),
      )
    })
  try {
    await untilStored(app, write)
    app.signals.emit('outbox')
  } catch (error) {
    app.log.warn(
      { messages: claimed.length, err: (error as Error).message },
      'the messages of a lost claim wait for the end of their lease',
    )
  }
}
