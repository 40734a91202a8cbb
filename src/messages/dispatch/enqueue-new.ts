// Gives new messages their jobs. Messages whose connection a process holds go to that process at once, so that no other claims them in vain.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { notifyOfNew } from '../../instances/sending.sql.ts'
import { type AddJobs, type Dispatchable, type DispatchRequest, dispatchJobs, dispatchRequest } from './dispatch-job.ts'

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
  await Promise.all(jobsOfNew(app, messages, holders).map((add) => add(tx)))
}

/** The statements of {@link enqueueNew}. `inBulk`: the messages are those of a large bulk. */
export function jobsOfNew(
  app: App,
  messages: readonly NewDispatchable[],
  holders: readonly (string | null)[],
  inBulk = false,
): AddJobs[] {
  const ofHolders: (NewDispatchable & { holder: string })[] = []
  const others: DispatchRequest[] = []
  for (const [i, message] of messages.entries()) {
    const holder = holders[i]
    if (holder && !message.scheduledAt) ofHolders.push({ ...message, holder })
    else others.push(dispatchRequest(message, message.scheduledAt ?? undefined, inBulk))
  }
  return [...dispatchJobs(app, others), ...handOver(app, ofHolders, inBulk)]
}

function handOver(app: App, messages: readonly (NewDispatchable & { holder: string })[], inBulk: boolean): AddJobs[] {
  const [first] = messages
  if (!first) return []
  const requests = messages.map((message) => dispatchRequest(message, undefined, inBulk))
  const startAfter = new Date(first.createdAt.getTime() + headStartMs)
  return [...dispatchJobs(app, requests, startAfter), (tx) => notifyOfNew(tx, messages)]
}
