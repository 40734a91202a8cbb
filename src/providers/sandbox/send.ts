// Send operation of the sandbox network: accepts messages in groups, and stores each exactly once under the gateway's id.
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { OutgoingMessage, SendOutcome } from '../outgoing.ts'
import { addSteps, droppedInstances, type NewStep, recordMessages } from './sandbox.sql.ts'
import { type Script, scriptFor } from './script.ts'

interface Attempt {
  instanceId: string
  message: OutgoingMessage
}

/** Creates `send`. `wake` is called with the milliseconds until the network has a step to run. */
export function createSend(app: App, wake: (dueInMs: number) => void): (attempt: Attempt) => Promise<SendOutcome> {
  return createBatch<Attempt, SendOutcome>({
    max: 200,
    parallel: 2,
    run: async (attempts) => {
      const { outcomes, soonest } = await sqlTransaction(app.pool, (tx) => takeAll(app, tx, attempts))
      wake(soonest * app.config.sandboxLatencyMs)
      return outcomes
    },
  })
}

/** `soonest` is the time until the network has a step to run, in latencies. */
async function takeAll(app: App, tx: Sql, attempts: readonly Attempt[]): Promise<{ outcomes: SendOutcome[]; soonest: number }> {
  const scripts = attempts.map((attempt) => scriptFor(attempt.message.to))
  const cutOff = await cutOffAmong(tx, attempts)
  const taken = attempts.filter((attempt, i) => !scripts[i]?.refuse && !cutOff.has(attempt))
  const attemptsBefore = await recordMessages(
    tx,
    taken.map(({ instanceId, message: { messageId, to, body } }) => ({ messageId, instanceId, to, body })),
  )
  const steps: NewStep[] = []
  const outcomes = attempts.map((attempt, i): SendOutcome => {
    const script = scripts[i] as Script
    if (cutOff.has(attempt)) return connectionLost(app)
    if (script.refuse) {
      if (script.refuse.restricted) steps.push({ instanceId: attempt.instanceId, kind: 'restrict', after: 0 })
      return { outcome: 'refused', ...script.refuse }
    }
    return answer(app, attempt, script, attemptsBefore.get(attempt.message.messageId) ?? 0, steps)
  })
  await addSteps(tx, steps, app.config.sandboxLatencyMs)
  return { outcomes, soonest: Math.min(1, ...steps.map(({ after }) => after)) }
}

/**
 * Finds messages that would drop a connection while an earlier drop of it is not over. They get the outcome `retry`, so that
 * they drop the connection again only after it is back.
 */
async function cutOffAmong(tx: Sql, attempts: readonly Attempt[]): Promise<ReadonlySet<Attempt>> {
  const dropping = attempts.filter(({ message }) => scriptFor(message.to).drops)
  if (dropping.length === 0) return new Set()
  const instances = await droppedInstances(
    tx,
    dropping.map(({ instanceId }) => instanceId),
  )
  return new Set(dropping.filter(({ instanceId }) => instances.has(instanceId)))
}

function connectionLost(app: App): SendOutcome {
  return { outcome: 'retry', error: 'CONNECTION_LOST', afterMs: app.config.sandboxLatencyMs, offline: true }
}

function answer(app: App, { instanceId, message }: Attempt, script: Script, before: number, steps: NewStep[]): SendOutcome {
  const { messageId } = message
  const providerMessageId = `sandbox.${messageId}`
  if (before < (script.stumbles ?? 0))
    return { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: app.config.sandboxLatencyMs }
  if (script.drops && before === 0) {
    steps.push({ instanceId, kind: 'disconnect', after: 0, next: { kind: 'reconnect', after: script.drops } })
    return connectionLost(app)
  }
  const firstTaken = before === (script.stumbles ?? 0) + (script.drops ? 1 : 0)
  if (firstTaken) for (const step of script.steps) steps.push({ ...step, instanceId, messageId })
  return script.losesAnswer && firstTaken
    ? { outcome: 'unknown', error: 'ANSWER_LOST' }
    : { outcome: 'accepted', providerMessageId }
}
