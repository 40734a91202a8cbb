// Sends due messages: claims them, sends them, then claims the next ones to the same recipients. Sends to a slow network continue outside of
// their batch, under a job that checks them when their lease is over, so that no batch waits for that network.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { attempt } from './attempt.ts'
import { type BatchLines, createBatchLines } from './batch-lines.ts'
import { type Claim, type ClaimedMessage, claimHeld, claimMessages, type NextMessage } from './claim.ts'
import { dispatchRequest, enqueueDispatch, guardRequest } from './dispatch-job.ts'
import { inFlight } from './in-flight.ts'
import { recipientOf } from './lines.sql.ts'
import { batchWaitMs } from './policy.ts'

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
 * those that their jobs must retry.
 */
export async function sendDue(app: App, ids: readonly string[]): Promise<Map<string, Error>> {
  return await sendInTurns(app, ids, createBatchLines(), { haveJobs: false })
}

/** Sends messages ahead of their jobs. Never rejects: those that could not be sent have a job. */
export async function sendAhead(app: App, ids: readonly string[], lines = createBatchLines()): Promise<void> {
  try {
    await sendInTurns(app, ids, lines, { haveJobs: true })
  } catch (error) {
    app.log.warn({ err: (error as Error).message }, 'messages wait for their jobs')
  }
}

/** Sends released messages, which have no job. Resolves when all are settled. `passed`: as in {@link Claim}. */
export async function sendReleased(app: App, ids: readonly string[]): Promise<{ sent: number } & Pick<Claim, 'passed'>> {
  const claimedAt = performance.now()
  const { claimed, passed } = await claimHeld(app, ids)
  await Promise.all(claimed.map((message) => begin(app, message, claimedAt).done))
  return { sent: claimed.length, passed }
}

/**
 * Messages to one recipient are sent one after another, each in a turn of its own. `lines`: the messages that follow those of the first
 * turn. Only the first of a line is claimed for a turn, so that n messages to one number are read n times and not n² / 2 times.
 * `haveJobs`: each message has a job that starts later. Without it, their job is the one that waits for this.
 */
async function sendInTurns(
  app: App,
  ids: readonly string[],
  lines: BatchLines,
  { haveJobs }: { haveJobs: boolean },
): Promise<Map<string, Error>> {
  const failed = new Map<string, Error>()
  const startedAt = performance.now()
  let turn = [...ids]
  while (turn.length > 0) {
    const claimedAt = performance.now()
    if (app.stopping || claimedAt - startedAt > turnsMs) {
      for (const id of [...turn, ...lines.ids()]) failed.set(id, new Error('handed back'))
      break
    }
    const { claimed, next } = await claimMessages(app, turn)
    await app.failpoint('send.after_claim')
    const sendings = claimed.map((message) => begin(app, message, claimedAt))
    await endOrTimeout(sendings.filter(({ message }) => !message.guarded))
    lines.add(next)
    const late = sendings
      .filter(({ ended }) => !ended)
      .map((sending) => ({ sending, followers: lines.take(recipientOfSending(sending)) }))
    if (late.length > 0) await detach(app, late, haveJobs)
    for (const { message, error } of sendings) if (error && !message.guarded) failed.set(message.id, error)
    const sent = new Set(sendings.map(recipientOfSending))
    // The message before these was not sent, most often because another batch sends it. They leave after that, ahead of their jobs.
    if (haveJobs) for (const first of lines.takeAllBut(sent)) app.signals.emit('line', first)
    turn = lines.nextTurn(sent)
  }
  return failed
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

async function endOrTimeout(sendings: readonly Sending[]): Promise<void> {
  await Promise.race([Promise.all(sendings.map(({ done }) => done)), pause(batchWaitMs, undefined, { ref: false })])
}

function recipientOfSending({ message: { instance, peer } }: Sending): string {
  return recipientOf({ instanceId: instance.id, peer })
}

interface Late {
  sending: Sending
  /** The messages behind it in its line. */
  followers: NextMessage[]
}

/**
 * Lets late sends continue outside of their batch, each with a job that checks its message when the lease is over. The followers of one
 * are sent as soon as it is settled, ahead of their jobs.
 */
async function detach(app: App, late: readonly Late[], haveJobs: boolean): Promise<void> {
  const flight = inFlight(app)
  const unguarded = late.map(({ sending }) => sending.message).filter(({ guarded }) => !guarded)
  for (const message of unguarded) {
    flight.late(message.instance.id)
    message.guarded = true
  }
  const jobs = unguarded.map(guardRequest)
  if (!haveJobs) {
    for (const { sending, followers } of late)
      jobs.push(...followers.map((follower) => dispatchRequest(follower, sending.message.guardAt)))
  }
  if (jobs.length > 0) await sqlTransaction(app.pool, (tx) => enqueueDispatch(app, tx, jobs))
  for (const { sending, followers } of late) {
    const [first, ...others] = followers
    if (first) flight.keep(sending.done.then(() => sendAhead(app, [first.id], createBatchLines(others))))
  }
}
