// Gives new messages their jobs. Messages whose connection a process holds go to that process at once, so that no other claims them in vain.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { notifyOfNew } from '../../instances/sending.sql.ts'
import { type Dispatchable, type DispatchRequest, dispatchRequest, enqueueDispatch } from './dispatch-job.ts'

export interface NewDispatchable extends Dispatchable {
  instanceId: string
  createdAt: Date
}

/**
 * The holder claims new messages when it is notified of them. Their jobs start this much later, for those that it did not claim or did not
 * send.
 */
const headStartMs = 1_000

/** Adds the jobs of messages, in the transaction that inserts them. `holders`: the process that holds the connection of each, if any. */
export async function enqueueNew(
  app: App,
  tx: Sql,
  messages: readonly NewDispatchable[],
  holders: readonly (string | null)[],
): Promise<void> {
  const ofHolders: (NewDispatchable & { holder: string })[] = []
  const others: DispatchRequest[] = []
  for (const [i, message] of messages.entries()) {
    const holder = holders[i]
    if (holder && !message.scheduledAt) ofHolders.push({ ...message, holder })
    else others.push(dispatchRequest(message, message.scheduledAt ?? undefined))
  }
  await Promise.all([enqueueDispatch(app, tx, others), handOver(app, tx, ofHolders)])
}

async function handOver(app: App, tx: Sql, messages: readonly (NewDispatchable & { holder: string })[]): Promise<void> {
  const [first] = messages
  if (!first) return
  const requests = messages.map((message) => dispatchRequest(message))
  const startAfter = new Date(first.createdAt.getTime() + headStartMs)
  await Promise.all([enqueueDispatch(app, tx, requests, startAfter), notifyOfNew(tx, messages)])
}
