// Takes back the messages of a campaign that have not left.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { takeBack } from '../messages/accept/enqueue.ts'
import { planAgain } from './campaigns.sql.ts'

/** Deletes the messages that have not left, and plans their recipients again. Returns how many. Relies on the campaign's row lock. */
export async function takeBackAndPlan(app: App, tx: Sql, id: string): Promise<number> {
  const messageIds = await takeBack(app, tx, id)
  await planAgain(tx, id, messageIds)
  return messageIds.length
}
