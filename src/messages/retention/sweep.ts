// Deletes expired messages every minute, in batches, with the files that came with them. Usage stays, and so do the counts of campaigns, and
// the files that somebody uploaded.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { scheduleJob } from '../../core/jobs/jobs.ts'
import { deleteMessages } from './delete.ts'
import { clearFiles, removeUnused } from './files.ts'
import { type Expiring, lockExpired, readExpiredCampaigns, readExpiring } from './retention.sql.ts'

/** Messages per transaction: it holds their locks for some 50 ms. */
const batchSize = 1_000
/** Batches of one workspace before the next one gets its turn. */
const batchesPerTurn = 20
/** A run ends before its job expires, so that no other one starts beside it. The next minute goes on. */
const longestMs = 300_000

// Not by `definePrune`: each workspace has its own time, and recipients of campaigns are changed together with their messages.
export const expireImplementation = scheduleJob({ name: 'messages.expire', cron: '* * * * *' }, sweepMessages)

/** Deletes expired messages, of each workspace in turn. Returns how many. */
export async function sweepMessages(app: App): Promise<number> {
  let deleted = 0
  const end = performance.now() + longestMs
  const goesOn = () => !app.stopping && performance.now() < end
  const waiting = [...(await readExpiring(app.pool, app.config.retentionDaysMessages))]
  for (let expiring = waiting.shift(); expiring && goesOn(); expiring = waiting.shift()) {
    let n = batchSize
    for (let batches = 0; n === batchSize && batches < batchesPerTurn && goesOn(); batches++) {
      n = await sweepBatch(app, expiring)
      deleted += n
    }
    if (n === batchSize) waiting.push(expiring)
  }
  if (deleted > 0) app.log.info({ deleted }, 'expired messages deleted')
  return deleted
}

async function sweepBatch(app: App, expiring: Expiring): Promise<number> {
  const { deleted, files } = await sqlTransaction(app.pool, async (tx) => {
    const campaignIds = await readExpiredCampaigns(tx, expiring, batchSize)
    await app.hooks.lockCampaigns(tx, campaignIds)
    const messages = await lockExpired(tx, expiring, campaignIds, batchSize)
    if (messages.length === 0) return { deleted: 0, files: [] }
    await app.hooks.keepRecipients(tx, messages)
    const ids = messages.map(({ id }) => id)
    await deleteMessages(app, tx, ids)
    const urls = messages.map(({ receivedFile }) => receivedFile)
    return { deleted: messages.length, files: await removeUnused(app, tx, expiring.workspaceId, urls) }
  })
  await clearFiles(app, files)
  return deleted
}
