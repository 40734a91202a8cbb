// Sends due messages: claims them, sends them, then claims the next ones to the same recipients. Sends to a slow network continue outside of
// their batch, under a job that checks them when their lease is over, so that no batch waits for that network.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { attempt } from './attempt.ts'
import { recipientOf } from './claim.sql.ts'
import { type ClaimedMessage, claimMessages, type NextMessage } from './claim.ts'
import { dispatchRequest, enqueueDispatch, guardRequest } from './dispatch-job.ts'
import { inFlight } from './in-flight.ts'
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
  return await sendInTurns(app, ids, new Map(), false)
}

/**
 * Messages to one recipient are sent one after another, each in a turn of its own. `lines`: by recipient, the messages that follow those of
 * the first turn. Only the first of a line is claimed for a turn, so that n messages to one number are read n times and not n² / 2 times.
 * `guarded`: each has a job at a later time.
 */
async function sendInTurns(app: App, ids: readonly string[], lines: Lines, guarded: boolean): Promise<Map<string, Error>> {
  const failed = new Map<string, Error>()
  const startedAt = performance.now()
  let turn = [...ids]
  while (turn.length > 0) {
    const claimedAt = performance.now()
    if (app.stopping || claimedAt - startedAt > turnsMs) {
      const left = [...turn, ...[...lines.values()].flat().map(({ id }) => id)]
      for (const id of left) failed.set(id, new Error('handed back'))
      break
    }
    const { claimed, next } = await claimMessages(app, turn)
    await app.failpoint('send.after_claim')
    const sendings = claimed.map((message) => begin(app, message, claimedAt))
    const awaited = sendings.filter(({ message }) => !message.guarded)
    await Promise.race([Promise.all(awaited.map(({ done }) => done)), pause(batchWaitMs, undefined, { ref: false })])
    for (const [recipient, line] of Map.groupBy(next, recipientOf)) lines.set(recipient, line)
    await detach(
      app,
      sendings.filter(({ ended }) => !ended),
      lines,
      guarded,
    )
    for (const { message, error } of sendings) if (error && !message.guarded) failed.set(message.id, error)
    const sent = new Set(claimed.map(recipientOfClaimed))
    if (guarded) leaveToOthers(app, lines, sent)
    turn = takeTurn(lines, sent)
  }
  return failed
}

/** By recipient, messages in the order in which they leave. */
type Lines = Map<string, NextMessage[]>

/**
 * Takes the first message of each line whose recipient is in `sent`. The other lines are taken whole: their previous message was not sent,
 * so the claim decides about each message.
 */
function takeTurn(lines: Lines, sent: ReadonlySet<string>): string[] {
  const turn: string[] = []
  for (const [recipient, line] of lines) {
    const taken = sent.has(recipient) ? line.splice(0, 1) : line.splice(0)
    turn.push(...taken.map(({ id }) => id))
    if (line.length === 0) lines.delete(recipient)
  }
  return turn
}

/**
 * Takes the lines whose previous message was not sent out of `lines`. Their messages have jobs, and most often another batch sends that
 * message and those behind it.
 */
function leaveToOthers(app: App, lines: Lines, sent: ReadonlySet<string>): void {
  for (const [recipient, [first]] of lines) {
    if (sent.has(recipient)) continue
    lines.delete(recipient)
    if (first) app.signals.emit('line', first)
  }
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

/**
 * Adds the jobs that check late messages and those behind them, takes the latter out of `lines`, and sends them as soon as the late ones
 * are settled.
 */
async function detach(app: App, late: readonly Sending[], lines: Lines, guarded: boolean): Promise<void> {
  if (late.length === 0) return
  const flight = inFlight(app)
  const unguarded = late.filter(({ message }) => !message.guarded).map(({ message }) => message)
  for (const message of unguarded) {
    flight.late(message.instance.id)
    message.guarded = true
  }
  const behind = late.map(({ message }) => take(lines, recipientOfClaimed(message)))
  const jobs = unguarded.map(guardRequest)
  if (!guarded) {
    for (const [i, { message }] of late.entries())
      jobs.push(...(behind[i] ?? []).map((follower) => dispatchRequest(follower, message.guardAt)))
  }
  if (jobs.length > 0) await sqlTransaction(app.pool, (tx) => enqueueDispatch(app, tx, jobs))
  for (const [i, { message, done }] of late.entries()) {
    const [first, ...others] = behind[i] ?? []
    const lines = new Map([[recipientOfClaimed(message), others]])
    if (first) flight.keep(done.then(() => sendAhead(app, [first.id], lines)))
  }
}

function take(lines: Lines, recipient: string): NextMessage[] {
  const line = lines.get(recipient) ?? []
  lines.delete(recipient)
  return line
}

/** Sends messages ahead of their jobs. Never rejects: those that could not be sent have a job. */
export async function sendAhead(app: App, ids: readonly string[], lines: Lines = new Map()): Promise<void> {
  try {
    await sendInTurns(app, ids, lines, true)
  } catch (error) {
    app.log.warn({ err: (error as Error).message }, 'messages wait for their jobs')
  }
}
