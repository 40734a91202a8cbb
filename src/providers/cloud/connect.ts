// Connects an instance: reads its number, registers it if need be, and subscribes the webhooks. Runs as a job, so that a restart continues.
import { isDeepStrictEqual } from 'node:util'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { ProviderHost } from '../provider.ts'
import type { StateChange } from '../reports.ts'
import { lockStatus, noteHealth } from './cloud.sql.ts'
import { type GraphAnswer, graph } from './graph.ts'
import { enqueueLink } from './link-job.ts'
import { isLater, isUnregistered, readNumber, standingOf, unknownNumber, waNumberOf, wordsFor } from './number.ts'
import { type CloudSettings, type KnownCloudInstance, settings as schema, secretsOf } from './settings.ts'
import { confirm, type Subscription, subscribe, unsubscribed } from './subscription.ts'

type Host = ProviderHost<KnownCloudInstance>

/** `later`: Meta cannot be reached or asks to try again. `failed`: it refused. Both with the words for `lastError`. */
type Reading = { is: 'read'; number: Record<string, unknown> } | { is: 'later'; words: string } | { is: 'failed'; words: string }

/** One attempt. If Meta cannot be reached or asks to try again, the instance stays `connecting`, and the next attempt is enqueued. */
export async function connect(app: App, host: Host, id: string, tries: number): Promise<void> {
  const instance = await host.instance(id)
  const opened = schema.safeParse(instance?.settings)
  if (!instance) return
  if (!opened.success)
    return await report(app, host, { instanceId: id, status: 'disconnected', error: 'a secret setting is missing' })
  const settings = opened.data
  const reading = await readRegistered(app, settings)
  if (reading.is === 'failed')
    return await report(app, host, { instanceId: id, status: 'disconnected', error: reading.words }, { settings })
  if (reading.is === 'later') {
    const change = { instanceId: id, status: 'connecting', error: reading.words } as const
    return await report(app, host, change, { settings, also: (tx) => enqueueLink(app, tx, id, 'connect', tries + 1) })
  }
  const subscription = subscriptionOf(id, settings)
  const subscribed = await subscribe(app, subscription)
  const { error, ...standing } = standingOf(reading.number)
  const words = subscribed.words ?? error ?? null
  const change = { instanceId: id, status: 'connected', waNumber: waNumberOf(reading.number), ...standing, error: words } as const
  await report(app, host, change, {
    settings,
    always: (tx) => confirm(app, tx, subscription),
    async also(tx) {
      await noteHealth(tx, id)
      if (subscribed.later) await enqueueLink(app, tx, id, 'subscribe', 1)
    },
  })
}

/**
 * Subscribes the webhooks of a connected instance again: Meta did not take the subscription, or the settings were changed. Words of another
 * error stay.
 */
export async function subscribeAgain(app: App, host: Host, id: string, tries: number): Promise<void> {
  const instance = await host.instance(id)
  const opened = schema.safeParse(instance?.settings)
  if (!opened.success) return
  const subscription = subscriptionOf(id, opened.data)
  const { words = null, later } = await subscribe(app, subscription)
  await sqlTransaction(app.pool, async (tx) => {
    const { status, lastError = null } = (await lockStatus(tx, id)) ?? {}
    await confirm(app, tx, subscription)
    if (status !== 'connected' || !(await isCurrent(host, tx, id, opened.data))) return
    const error = words ?? (lastError?.startsWith(unsubscribed) ? null : lastError)
    await host.state({ instanceId: id, status, error }, tx)
    if (later) await enqueueLink(app, tx, id, 'subscribe', tries + 1)
  })
  app.signals.emit('outbox')
}

function subscriptionOf(instanceId: string, settings: CloudSettings): Subscription {
  const { businessAccountId, accessToken, verifyToken, appSecret } = settings
  return { instanceId, businessAccountId, accessToken, verifyToken, appSecret }
}

interface Report {
  /** Those that the change was found with. */
  settings?: CloudSettings
  /** In the same transaction, whether the change still counts or not. */
  always?: (tx: Sql) => Promise<void>
  /** In the same transaction, with the change. */
  also?: (tx: Sql) => Promise<void>
}

/**
 * Reports a change, unless the instance is no longer `connecting`, because somebody logged it out or deleted it, or has other settings by
 * now, with which another job connects it.
 */
async function report(app: App, host: Host, change: StateChange, { settings, always, also }: Report = {}): Promise<void> {
  const { instanceId } = change
  await sqlTransaction(app.pool, async (tx) => {
    const { status } = (await lockStatus(tx, instanceId)) ?? {}
    await always?.(tx)
    if (status !== 'connecting' || (settings && !(await isCurrent(host, tx, instanceId, settings)))) return
    await host.state(change, tx)
    await also?.(tx)
  })
  app.signals.emit('outbox')
}

/** The caller holds the row lock of the instance. */
async function isCurrent(host: Host, tx: Sql, id: string, settings: CloudSettings): Promise<boolean> {
  return isDeepStrictEqual((await host.instance(id, tx))?.settings, settings)
}

async function readRegistered(app: App, settings: CloudSettings): Promise<Reading> {
  const first = await read(app, settings)
  if (first.is !== 'read' || !isUnregistered(first.number)) return first
  const { phoneNumberId, accessToken, pin } = settings
  if (pin === undefined) return { is: 'failed', words: 'the number is not registered: give its pin' }
  const json = { messaging_product: 'whatsapp', pin }
  const answer = await graph(app).call({ method: 'POST', path: `${phoneNumberId}/register`, accessToken, json })
  if (answer.is !== 'done') return unsuccessful(answer, `the number was not registered: ${wordsFor(answer, secretsOf(settings))}`)
  return await read(app, settings)
}

async function read(app: App, settings: CloudSettings): Promise<Reading> {
  const answer = await readNumber(app, settings)
  if (answer.is !== 'done') return unsuccessful(answer, wordsFor(answer, secretsOf(settings), unknownNumber))
  if (waNumberOf(answer.body) === undefined) return { is: 'failed', words: 'Meta shows no phone number for this phoneNumberId' }
  return { is: 'read', number: answer.body }
}

function unsuccessful(answer: Exclude<GraphAnswer, { is: 'done' }>, words: string): Reading {
  return { is: isLater(answer) ? 'later' : 'failed', words }
}
