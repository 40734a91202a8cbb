// Send operation of the sandbox network: accepts messages in groups, and stores each exactly once under its reference.
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { OutgoingMessage, ProviderInstance, SendOutcome } from '../provider.ts'
import { type Script, scriptFor } from './script.ts'
import { addSteps, type NewStep } from './steps.ts'

interface Offer {
  instance: ProviderInstance
  message: OutgoingMessage
}

/** Creates `send`. `wake` is called with the milliseconds until the network has a step to run. */
export function createSend(app: App, wake: (dueInMs: number) => void): (offer: Offer) => Promise<SendOutcome> {
  return createBatch<Offer, SendOutcome>({
    max: 200,
    parallel: 2,
    run: async (offers) => {
      const { outcomes, soonest } = await sqlTransaction(app.pool, (tx) => takeAll(app, tx, offers))
      wake(soonest * app.config.sandboxLatencyMs)
      return outcomes
    },
  })
}

/** `soonest` is the time until the network has a step to run, in latencies. */
async function takeAll(app: App, tx: Sql, offers: readonly Offer[]): Promise<{ outcomes: SendOutcome[]; soonest: number }> {
  const scripts = offers.map((offer) => scriptFor(offer.message.to))
  const cutOff = await cutOffAmong(tx, offers)
  const taken = offers.filter((offer, i) => !scripts[i]?.refuse && !cutOff.has(offer))
  const offersBefore = await record(tx, taken)
  const steps: NewStep[] = []
  const outcomes = offers.map((offer, i): SendOutcome => {
    const script = scripts[i] as Script
    if (cutOff.has(offer)) return connectionLost(app)
    if (script.refuse) {
      if (script.refuse.restricted) steps.push({ instanceId: offer.instance.id, kind: 'restrict', after: 0 })
      return { outcome: 'refused', ...script.refuse }
    }
    return answer(app, offer, script, offersBefore.get(offer.message.reference) ?? 0, steps)
  })
  await addSteps(tx, steps, app.config.sandboxLatencyMs)
  return { outcomes, soonest: Math.min(1, ...steps.map(({ after }) => after)) }
}

/**
 * Finds messages that would drop a connection while an earlier drop of it is still pending. They get the outcome `retry`, so that
 * they drop the connection again only after it is back.
 */
async function cutOffAmong(tx: Sql, offers: readonly Offer[]): Promise<ReadonlySet<Offer>> {
  const dropping = offers.filter(({ message }) => scriptFor(message.to).drops)
  if (dropping.length === 0) return new Set()
  const { rows } = await tx.query<{ instanceId: string }>(
    `select distinct "instanceId" from sandbox_steps where kind = 'disconnect' and "instanceId" = any($1::uuid[])`,
    [dropping.map(({ instance }) => instance.id)],
  )
  return new Set(dropping.filter(({ instance }) => rows.some(({ instanceId }) => instanceId === instance.id)))
}

function connectionLost(app: App): SendOutcome {
  return { outcome: 'retry', error: 'CONNECTION_LOST', afterMs: app.config.sandboxLatencyMs }
}

function answer(app: App, { instance, message }: Offer, script: Script, before: number, steps: NewStep[]): SendOutcome {
  const { reference } = message
  const providerMessageId = `sandbox.${reference}`
  if (before < (script.stumbles ?? 0))
    return { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: app.config.sandboxLatencyMs }
  if (script.drops && before === 0) {
    steps.push({ instanceId: instance.id, kind: 'disconnect', after: 0, next: { kind: 'reconnect', after: script.drops } })
    return connectionLost(app)
  }
  const firstTaken = before === (script.stumbles ?? 0) + (script.drops ? 1 : 0)
  if (firstTaken) for (const step of script.steps) steps.push({ ...step, instanceId: instance.id, reference })
  return script.losesAnswer && firstTaken
    ? { outcome: 'unknown', error: 'ANSWER_LOST' }
    : { outcome: 'accepted', providerMessageId }
}

/** Stores the messages; returns how many attempts each reference had before. */
async function record(tx: Sql, offers: readonly Offer[]): Promise<Map<string, number>> {
  if (offers.length === 0) return new Map()
  const { rows } = await tx.query<{ reference: string; offers: number }>({
    name: 'sandbox.record',
    text: `insert into sandbox_messages as m (reference, "instanceId", "to", body)
      select * from unnest($1::text[], $2::uuid[], $3::text[], $4::text[])
      on conflict (reference) do update set offers = m.offers + 1 returning reference, offers`,
    values: [
      offers.map((offer) => offer.message.reference),
      offers.map((offer) => offer.instance.id),
      offers.map((offer) => offer.message.to),
      offers.map((offer) => offer.message.body),
    ],
  })
  return new Map(rows.map((row) => [row.reference, row.offers - 1]))
}
