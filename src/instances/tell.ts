// Tells live subscriptions that an instance changed.
import type { Sql } from '../core/database/database.ts'
import { announceChange, subject } from '../events/live/follow.ts'

/** Notifies those who follow the instance, or all of its workspace, when the transaction commits. */
export async function tellInstance(tx: Sql, workspaceId: string, instanceId: string): Promise<void> {
  await announceChange(tx, subject('instance', instanceId), subject('instances', workspaceId))
}
