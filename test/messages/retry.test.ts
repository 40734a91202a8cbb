// The effect of each answer of a provider on a message, with providers made for these tests.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import type { JobImplementation } from '../../src/core/jobs/jobs.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { dispatchImplementations } from '../../src/messages/dispatch/dispatch.ts'
import { inFlight } from '../../src/messages/dispatch/in-flight.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { sweepImplementation } from '../../src/messages/dispatch/sweep.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { providers } from '../../src/providers/providers.ts'
import { type Account, connectedInstance, createAccount, type TestInstance } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from './rig.ts'

let databaseUrl: string
let account: Account
let phone: TestInstance
let app: App
let ctx: Context
let numbers = 0

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  phone = await connectedInstance(databaseUrl, account)
  app = await openApp(databaseUrl)
  ctx = contextFor(app, account)
})

/** Replaces the sandbox by one that differs only in its answer to a send. */
function answering(send: () => SendOutcome | Promise<SendOutcome>, sendsOnce = true): void {
  const sandbox = providers(app).get('sandbox')
  if (!sandbox) throw new Error('there is no sandbox')
  const own = { ...sandbox, sendsOnce: () => sendsOnce, reconcileMs: 200, send: async () => await send() }
  providers.replace(app, new Map([['sandbox', own]]))
}

async function accepted(instanceId = phone.id): Promise<string> {
  const input = { instanceId, to: `+39333700${1000 + ++numbers}`, type: 'text', text: 'hello' }
  return (await sendMessage(ctx, input)).id
}

async function dispatch(...ids: string[]): Promise<readonly (Error | undefined)[]> {
  const [instant] = dispatchImplementations as [JobImplementation]
  const jobs = ids.map((id) => ({ id }))
  const failed = await instant.run(app, jobs)
  // On a busy machine, a send may last longer than its batch waits for it.
  await inFlight(app).idle()
  return failed
}

async function rowOf(id: string) {
  const { rows } = await sql(databaseUrl).query('select * from messages where id = $1', [id])
  return rows[0]
}

async function eventsOf(id: string): Promise<unknown[]> {
  const { rows } = await sql(databaseUrl).query(
    `select payload from outbox where "messageId" = $1 and type <> 'message.queued' order by position`,
    [id],
  )
  return rows.map(({ payload }) => [payload.event, payload.error])
}

/** Moves the next attempt and the end of the lease back by one hour, so that both are over. */
async function hurry(id: string): Promise<void> {
  await sql(databaseUrl).query(
    `update messages set "nextAttemptAt" = "nextAttemptAt" - interval '1 hour', "leaseUntil" = "leaseUntil" - interval '1 hour' where id = $1`,
    [id],
  )
}

async function usage(): Promise<number> {
  const { rows } = await sql(databaseUrl).query('select "messagesCount" as n from usage where "userId" = $1', [account.userId])
  return rows[0]?.n ?? 0
}

it('keeps a message that finds the connection gone, however often, and sends it once the connection is back', async () => {
  const input = { instanceId: phone.id, to: '+393337000010', type: 'text', text: 'hello' }
  const { id } = await sendMessage(ctx, input)
  const dispatchNow = async () => {
    await sql(databaseUrl).query('update messages set "nextAttemptAt" = null where id = $1', [id])
    await dispatch(id)
  }
  await sql(databaseUrl).query(
    `insert into sandbox_steps ("instanceId", kind, "dueAt") values ($1, 'reconnect', now() + interval '1 hour')`,
    [phone.id],
  )
  for (let i = 0; i < 15; i++) await dispatchNow()
  expect(await rowOf(id)).toMatchObject({ status: 'sending', error: null, attempts: 0, handedAt: null })
  await sql(databaseUrl).query('delete from sandbox_steps where "instanceId" = $1', [phone.id])
  // The first attempt that the network hears of drops the connection, as for every number of this ending.
  await dispatchNow()
  await sql(databaseUrl).query('delete from sandbox_steps where "instanceId" = $1', [phone.id])
  await dispatchNow()
  expect((await rowOf(id)).acceptedAt).not.toBeNull()
})

it.each([
  ['an attempt without an answer', true],
  ['a refusal that the network took back', false],
])('keeps or returns the quota of a message that expires after %s', async (_, mayHaveLeft) => {
  answering(() =>
    mayHaveLeft ? { outcome: 'unknown', error: 'PROVIDER_TIMEOUT' } : { outcome: 'retry', error: 'BUSY', afterMs: 0 },
  )
  const id = await accepted()
  const used = async () =>
    (await sql(databaseUrl).query('select "messagesCount" as n from usage where "userId" = $1', [account.userId])).rows[0]?.n
  const before = await used()
  await dispatch(id)
  await sql(databaseUrl).query(
    `update messages set "dueAt" = now() - interval '2 days', "leaseUntil" = "leaseUntil" - interval '1 minute', "nextAttemptAt" = null
     where id = $1`,
    [id],
  )
  await dispatch(id)
  expect(await rowOf(id)).toMatchObject({ status: 'failed', error: mayHaveLeft ? 'UNKNOWN_OUTCOME' : 'EXPIRED' })
  expect(await used()).toBe(mayHaveLeft ? before : before - 1)
})

it('retries a temporary error, each time later and with a job for it, and fails in the end with that error', async () => {
  answering(() => ({ outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE' }))
  const before = await usage()
  const id = await accepted()
  for (let i = 0; i < 11; i++) {
    const nominal = 1_000 * Math.min(300, 2 ** i)
    const earliest = Date.now() + 0.8 * nominal
    expect(await dispatch(id)).toEqual([undefined])
    const latest = Date.now() + 1.2 * nominal
    const { status, attempts, leaseToken, nextAttemptAt } = await rowOf(id)
    expect({ status, attempts, leaseToken }).toEqual({ status: 'sending', attempts: i + 1, leaseToken: null })
    const { rows } = await sql(databaseUrl).query(`select start_after from pgboss.job where data->>'id' = $1`, [id])
    // On a busy machine the send gets a job that checks it, too.
    expect(rows.map((job) => job.start_after)).toContainEqual(nextAttemptAt)
    expect(nextAttemptAt.getTime()).toBeGreaterThanOrEqual(Math.floor(earliest))
    expect(nextAttemptAt.getTime()).toBeLessThanOrEqual(latest)
    // The job comes too early, however slow this machine is: nothing is offered.
    await sql(databaseUrl).query(`update messages set "nextAttemptAt" = "nextAttemptAt" + interval '30 minutes' where id = $1`, [
      id,
    ])
    await dispatch(id)
    expect((await rowOf(id)).attempts).toBe(i + 1)
    await hurry(id)
  }
  await dispatch(id)
  expect(await rowOf(id)).toMatchObject({ status: 'failed', error: 'TEMPORARILY_UNAVAILABLE', attempts: 12, countedPeriod: null })
  expect(await eventsOf(id)).toEqual([['message.failed', 'TEMPORARILY_UNAVAILABLE']])
  expect(await usage()).toBe(before)
})

it('fails a refused message at once, and gives its quota back', async () => {
  answering(() => ({ outcome: 'refused', error: 'MEDIA_REJECTED' }))
  const before = await usage()
  const id = await accepted()
  expect(await usage()).toBe(before + 1)
  await dispatch(id)
  expect(await rowOf(id)).toMatchObject({ status: 'failed', error: 'MEDIA_REJECTED', attempts: 1, leaseToken: null })
  expect(await eventsOf(id)).toEqual([['message.failed', 'MEDIA_REJECTED']])
  expect(await usage()).toBe(before)
})

it('treats an unexplained error as an unknown outcome, and offers again only if that is safe', async () => {
  let offers = 0
  const breakOff = () => {
    offers++
    throw new Error('socket hang up')
  }
  for (const [sendsOnce, expected] of [
    [true, { status: 'sending', error: null }],
    [false, { status: 'failed', error: 'UNKNOWN_OUTCOME' }],
  ] as const) {
    offers = 0
    answering(breakOff, sendsOnce)
    const before = await usage()
    const id = await accepted()
    await dispatch(id)
    const { leaseUntil } = await rowOf(id)
    const { rows } = await sql(databaseUrl).query(`select from pgboss.job where data->>'id' = $1 and start_after = $2`, [
      id,
      leaseUntil,
    ])
    expect(rows, 'a job looks again when the lease is over').toHaveLength(1)
    await dispatch(id)
    expect(offers).toBe(1)
    await hurry(id)
    await dispatch(id)
    expect(await rowOf(id)).toMatchObject(expected)
    expect(offers).toBe(sendsOnce ? 2 : 1)
    expect(await usage(), 'what may have left keeps its quota').toBe(before + 1)
  }
})

it('treats a provider that does not answer within 8 s as an unknown outcome, and refuses its late answer', async () => {
  const answer = Promise.withResolvers<SendOutcome>()
  answering(() => answer.promise, false)
  const id = await accepted()
  const at = performance.now()
  await dispatch(id)
  expect(performance.now() - at).toBeGreaterThan(7_900)
  expect(await rowOf(id)).toMatchObject({ status: 'sending', acceptedAt: null })
  answer.resolve({ outcome: 'accepted', providerMessageId: 'late' })
  await hurry(id)
  await dispatch(id)
  expect(await rowOf(id)).toMatchObject({ status: 'failed', error: 'UNKNOWN_OUTCOME', providerMessageId: null })
})

it('refuses and counts an outcome when the lease has passed to another worker', async () => {
  answering(() => ({ outcome: 'accepted', providerMessageId: 'first' }))
  const id = await accepted()
  const { claimed } = await claimMessages(app, [id])
  await hurry(id)
  const second = await claimMessages(app, [id])
  for (const outcome of [
    { outcome: 'accepted', providerMessageId: 'late' },
    { outcome: 'refused', error: 'LATE' },
    { outcome: 'retry', error: 'LATE' },
  ] as const) {
    const before = await fenced()
    await settlement(app)({ message: claimed[0] as never, outcome })
    expect(await fenced()).toBe(before + 1)
    expect(await rowOf(id)).toMatchObject({ status: 'sending', acceptedAt: null, leaseToken: second.claimed[0]?.token })
  }
  await settlement(app)({ message: second.claimed[0] as never, outcome: { outcome: 'accepted', providerMessageId: 'right' } })
  expect(await rowOf(id)).toMatchObject({ providerMessageId: 'right', leaseToken: null })
})

const fenced = async (): Promise<number> => (await app.metrics.fencedWrites.get()).values[0]?.value ?? 0

it('expires messages that lost their job at the next sweep at the latest, with an expired lease or without a lease', async () => {
  const away = await connectedInstance(databaseUrl, account)
  answering(() => ({ outcome: 'unknown', error: 'PROVIDER_TIMEOUT' }))
  const leased = await accepted(away.id)
  await dispatch(leased)
  await sql(databaseUrl).query(`update instances set status = 'disconnected' where id = $1`, [away.id])
  const fresh = await accepted(away.id)
  await hurry(leased)
  await dispatch(leased, fresh)
  await until(async () => (await rowOf(leased)).waitingSince !== null && (await rowOf(fresh)).waitingSince !== null)
  await sql(databaseUrl).query(`update messages set "dueAt" = now() - interval '25 hours' where id = any($1)`, [[leased, fresh]])
  await sql(databaseUrl).query(`delete from pgboss.job where data->>'id' = any($1)`, [[leased, fresh]])
  await sweepImplementation.run(app, [{}])
  expect(await rowOf(leased)).toMatchObject({ status: 'failed', error: 'UNKNOWN_OUTCOME' })
  expect(await rowOf(fresh)).toMatchObject({ status: 'failed', error: 'EXPIRED' })
})
