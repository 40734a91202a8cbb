// Sends due messages: claims them, sends them, then claims the next ones to the same recipients. Sends to a slow network continue outside of
// their batch, under a job that checks them when their lease is over, so that no batch waits for that network.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { batchWaitMs } from '../safety/policy.ts'
import { attempt } from './attempt.ts'
import { recipientOf } from './claim.sql.ts'
import { type ClaimedMessage, claimMessages, type NextMessage } from './claim.ts'
import { dispatchRequest, enqueueDispatch, guardRequest } from './dispatch-job.ts'
import { inFlight } from './in-flight.ts'

/** Longest time that one batch may spend on its turns. All jobs of a batch complete together, at its end. */
const turnsMs = 5_000

interface Sending {
  message: ClaimedMessage
  /** Never rejects. */
  done: Promise<void>
  ended: boolean
  error?: Error
}

/**
 * Sends the messages with these ids. Returns when each has been sent, or continues under a job of its own. The result has the errors of
 * those that their jobs must retry. `guarded`: each has a job at a later time.
 */
export async function sendDue(app: App, ids: readonly string[], guarded = false): Promise<Map<string, Error>> {
  const failed = new Map<string, Error>()
  const startedAt = performance.now()
  // Messages to one recipient are sent one after another. Those behind another message of this batch wait for the next turn.
  let turn = [...ids]
  while (turn.length > 0) {
    const claimedAt = performance.now()
    if (app.stopping || claimedAt - startedAt > turnsMs) {
      for (const id of turn) failed.set(id, new Error('handed back'))
      break
    }
    const { claimed, next } = await claimMessages(app, turn)
    await app.failpoint('send.after_claim')
    const sendings = claimed.map((message) => begin(app, message, claimedAt))
    const awaited = sendings.filter(({ message }) => !message.guarded)
    await Promise.race([Promise.all(awaited.map(({ done }) => done)), pause(batchWaitMs, undefined, { ref: false })])
    const late = sendings.filter(({ ended }) => !ended)
    const lateRecipients = new Set(late.map(({ message }) => recipientOfClaimed(message)))
    await detach(app, late, next, guarded)
    for (const { message, error } of sendings) if (error && !message.guarded) failed.set(message.id, error)
    turn = next.filter((message) => !lateRecipients.has(recipientOf(message))).map(({ id }) => id)
  }
  return failed
}

/** Sends released messages, which have no job. Resolves when all are settled; returns how many were sent. */
export async function sendReleased(app: App, ids: readonly string[]): Promise<number> {
  const claimedAt = performance.now()
  const { claimed } = await claimMessages(app, ids, true)
  await Promise.all(claimed.map((message) => begin(app, message, claimedAt).done))
  return claimed.length
}

function begin(app: App, message: ClaimedMessage, claimedAt: number): Sending {
  const sending: Sending = { message, done: Promise.resolve(), ended: false }
  sending.done = attempt(app, message, claimedAt).then(
    () => {
      sending.ended = true
    },
    (error: Error) => {
      sending.ended = true
      sending.error = error
      app.log.warn({ messageId: message.id, err: error.message }, 'a send was not settled')
    },
  )
  inFlight(app).keep(sending.done)
  return sending
}

function recipientOfClaimed({ instance, peer }: ClaimedMessage): string {
  return recipientOf({ instanceId: instance.id, peer })
}

/** Adds the jobs that check late messages and those behind them, and sends the latter as soon as the late ones are settled. */
async function detach(app: App, late: readonly Sending[], next: readonly NextMessage[], guarded: boolean): Promise<void> {
  if (late.length === 0) return
  const flight = inFlight(app)
  const unguarded = late.filter(({ message }) => !message.guarded).map(({ message }) => message)
  for (const message of unguarded) {
    flight.late(message.instance.id)
    message.guarded = true
  }
  const followers = Map.groupBy(next, recipientOf)
  const lines = late.map(({ message }) => ({ message, behind: followers.get(recipientOfClaimed(message)) ?? [] }))
  const jobs = unguarded.map(guardRequest)
  if (!guarded) {
    for (const { message, behind } of lines) jobs.push(...behind.map((follower) => dispatchRequest(follower, message.guardAt)))
  }
  if (jobs.length > 0) await sqlTransaction(app.pool, (tx) => enqueueDispatch(app, tx, jobs))
  for (const [i, { done }] of late.entries()) {
    const behind = (lines[i]?.behind ?? []).map(({ id }) => id)
    if (behind.length > 0) flight.keep(done.then(() => sendAhead(app, behind)))
  }
}

/** Sends messages ahead of their jobs. Never rejects: those that could not be sent have a job. */
export async function sendAhead(app: App, ids: readonly string[]): Promise<void> {
  try {
    await sendDue(app, ids, true)
  } catch (error) {
    app.log.warn({ err: (error as Error).message }, 'messages wait for their jobs')
  }
}
