// A network that asks to wait is waited out by exactly the messages that it means, over all processes, and by nobody else.
import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { sweepImplementation } from '../../src/messages/dispatch/sweep.ts'
import { applyReceipts } from '../../src/messages/receipts/receipts.ts'
import { sendMessage, sendMessages } from '../../src/messages/service.ts'
import type { Hold } from '../../src/providers/outgoing.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/providers.ts'
import { createSuppression } from '../../src/suppressions/service.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { accepted, allAccepted, network, openWorker, statesOf } from './network-rig.ts'
import { contextFor } from './rig.ts'

const net = network()
const accountOf = ({ settings }: { settings: unknown }) => (settings as { account?: string }).account ?? null
let databaseUrl: string
let account: Account
let apps: App[]
let contexts: Context[]
let numbers = 0

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  apps = [await openWorker(databaseUrl, net, { accountOf }), await openWorker(databaseUrl, net, { accountOf })]
  contexts = apps.map((app) => contextFor(app, account))
})

beforeEach(() => {
  net.calls = []
  net.answer = accepted
})

const freshNumber = () => `+39333800${1000 + ++numbers}`

async function phone(settings: Record<string, unknown> = {}): Promise<string> {
  return (await connectedInstance(databaseUrl, account, { settings })).id
}

async function send(instanceId: string, to = freshNumber()): Promise<string> {
  const ctx = contexts[++numbers % 2] as Context
  return (await sendMessage(ctx, { instanceId, to, type: 'text', text: 'hello' })).id
}

/** Refuses the first call for a while, with this hold. */
function holding(holds: Hold, afterMs: number): void {
  net.answer = () => {
    net.answer = accepted
    return { outcome: 'retry', error: 'BUSY', afterMs, holds }
  }
}

/** How long a receipt may settle an unknown outcome, on both processes. */
function reconcileWithin(reconcileMs: number): void {
  for (const app of apps) {
    const provider = providers(app).get('sandbox') as Provider
    providers.replace(app, new Map([['sandbox', { ...provider, reconcileMs }]]))
  }
}

const afterMs = 1_500

it.each([
  ['recipient', { of: 'recipient' }],
  ['instance', { of: 'instance' }],
  ['account', { of: 'account', account: 'acme' }],
] as const)('lets messages of one %s wait until the time is over, over two processes, and no others', async (of, hold) => {
  const [own, sister, stranger] = [await phone({ account: 'acme' }), await phone({ account: 'acme' }), await phone()]
  const to = freshNumber()
  holding(hold, afterMs)
  const first = await send(own, to)
  await until(async () => (await statesOf(databaseUrl, [first]))[0] === `held by ${of}`)
  const heldUp = [first, await send(own, to), await send(own, to)]
  const toOther = await send(own)
  const bySister = await send(sister, to)
  const others = [await send(stranger, to), await send(stranger)]
  if (of !== 'recipient') heldUp.push(toOther)
  else others.push(toOther)
  if (of === 'account') heldUp.push(bySister)
  else others.push(bySister)
  await allAccepted(databaseUrl, others)
  await allAccepted(databaseUrl, heldUp)
  const begin = net.calls[0]?.at as number
  const second = net.calls.filter(({ id }, i) => i > 0 && heldUp.includes(id))
  expect(second.map(({ id }) => id).sort()).toEqual([...heldUp].sort())
  expect(Math.min(...second.map(({ at }) => at)) - begin).toBeGreaterThanOrEqual(afterMs - 50)
  expect(second.filter((call) => call.to === to && call.instanceId === own).map(({ id }) => id)).toEqual(heldUp.slice(0, 3))
  const { rows } = await sql(databaseUrl).query('select distinct attempts from messages where id = any($1)', [heldUp])
  expect(rows).toEqual([{ attempts: 1 }])
})

it('holds up no message of another workspace, which may name the same account', async () => {
  const own = await phone({ account: 'named' })
  const stranger = await createAccount(databaseUrl)
  const theirs = (await connectedInstance(databaseUrl, stranger, { settings: { account: 'named' } })).id
  holding({ of: 'account', account: 'named' }, 600_000)
  const first = await send(own)
  await until(async () => (await statesOf(databaseUrl, [first]))[0] === 'held by account')
  const message = { instanceId: theirs, to: freshNumber(), type: 'text', text: 'hello' }
  const { id } = await sendMessage(contextFor(apps[0] as App, stranger), message)
  await allAccepted(databaseUrl, [id])
  expect(await statesOf(databaseUrl, [first])).toEqual(['held by account'])
})

it('has one job for all messages that wait under a hold, and none for each of them', async () => {
  const own = await phone()
  holding({ of: 'instance' }, 600_000)
  const first = await send(own)
  await until(async () => (await statesOf(databaseUrl, [first]))[0] === 'held by instance')
  const input = Array.from({ length: 50 }, () => ({ instanceId: own, to: freshNumber(), type: 'text', text: 'hello' }))
  const { accepted: list } = await sendMessages(contexts[0] as Context, input)
  const ids = [first, ...list.map(({ id }) => id)]
  await until(async () => (await statesOf(databaseUrl, ids)).every((state) => state === 'held by instance'))
  const jobs = async (where: string, value: unknown) =>
    (await sql(databaseUrl).query(`select from pgboss.job where state < 'completed' and ${where}`, [value])).rowCount
  await until(async () => (await jobs(`(data->>'id' = any($1) or data->'ids' ?| $1)`, ids)) === 0)
  expect(await jobs(`data->>'key' = $1`, `instance ${own}`)).toBe(1)
  expect(net.calls).toHaveLength(1)
})

it('tries a message as often as the network asks to wait, and sends it after all', async () => {
  let asked = 0
  net.answer = (message) =>
    ++asked <= 15 ? { outcome: 'retry', error: 'BUSY', afterMs: 1, holds: { of: 'recipient' } } : accepted(message)
  const id = await send(await phone())
  await allAccepted(databaseUrl, [id])
  expect(asked).toBe(16)
})

it('expires messages that wait under a hold for longer than their time to live', async () => {
  const own = await cloneDatabase()
  const owner = await createAccount(own)
  const { id: instanceId } = await connectedInstance(own, owner)
  const brief = network()
  brief.answer = () => ({ outcome: 'retry', error: 'BUSY', afterMs: 3_600_000, holds: { of: 'instance' } })
  const app = await openWorker(own, brief, {}, { MESSAGE_TTL_SECONDS: '2' })
  const input = Array.from({ length: 3 }, () => ({ instanceId, to: freshNumber(), type: 'text', text: 'hello' }))
  const { accepted: list } = await sendMessages(contextFor(app, owner), input)
  const ids = list.map(({ id }) => id)
  await until(async () => (await statesOf(own, ids)).every((state) => state === 'failed EXPIRED'))
  const { rows } = await sql(own).query('select "messagesCount" as n from usage where "userId" = $1', [owner.userId])
  expect(rows).toEqual([{ n: 0 }])
})

it('brings messages under a hold up again at a sweep, if their job was lost', async () => {
  const own = await phone()
  holding({ of: 'instance' }, 600_000)
  const first = await send(own)
  await until(async () => (await statesOf(databaseUrl, [first]))[0] === 'held by instance')
  await sql(databaseUrl).query(`delete from pgboss.job where data->>'key' = $1`, [`instance ${own}`])
  await sql(databaseUrl).query(`update send_holds set until = now() where key = $1`, [`instance ${own}`])
  await sweepImplementation.run(apps[0] as App, [{}])
  const { rows } = await sql(databaseUrl).query(
    `select start_after < now() + interval '11 seconds' as soon from pgboss.job where data->>'key' = $1 and state = 'created'`,
    [`instance ${own}`],
  )
  expect(rows).toEqual([{ soon: true }])
})

/** Nothing may come before its time, so that a message leaves only if something brings it forward. */
async function putOff(where: string, value: unknown): Promise<void> {
  await sql(databaseUrl).query(`update pgboss.job set start_after = now() + interval '1 hour' where ${where} = $1`, [value])
}

it.each<[string, (instanceId: string, first: string) => Promise<unknown>]>([
  [
    'a receipt tells',
    (instanceId, messageId) => applyReceipts(apps[0] as App, [{ instanceId, messageId, status: 'sent', at: new Date() }]),
  ],
  [
    'no receipt has come in time',
    async (_, first) => {
      reconcileWithin(0)
      await sql(databaseUrl).query(`update pgboss.job set start_after = now() where data->>'id' = $1`, [first])
    },
  ],
])('lets messages behind one whose outcome is unknown wait under one job, and sends them at once when %s', async (_, end) => {
  const own = await phone({ clientReferences: false })
  const to = freshNumber()
  net.answer = () => ({ outcome: 'unknown', error: 'ANSWER_LOST' })
  // The lease is over, and the receipt still has an hour to come.
  reconcileWithin(3_600_000)
  const first = await send(own, to)
  await until(() => net.calls.length === 1)
  net.answer = accepted
  await until(async () => {
    const { rowCount } = await sql(databaseUrl).query(
      `update messages set "leaseUntil" = now() - interval '1 second' where id = $1 and "leaseUntil" is not null`,
      [first],
    )
    return rowCount === 1
  })
  const behind = [await send(own, to), await send(own, to), await send(own, to)]
  await until(async () => (await statesOf(databaseUrl, behind)).every((state) => state === 'held by recipient'))
  // The jobs that brought them end once their batch is through.
  await until(async () => {
    const { rows } = await sql(databaseUrl).query(
      `select count(*)::int as n from pgboss.job where state < 'completed' and (data->>'key' = $1 or data->>'id' = any($2))`,
      [`recipient ${own} ${to}`, behind],
    )
    return rows[0].n === 1
  })
  await putOff(`data->>'key'`, `recipient ${own} ${to}`)
  await end(own, first)
  await allAccepted(databaseUrl, behind)
  expect(net.calls.map(({ id }) => id)).toEqual([first, ...behind])
})

it('sends the messages behind those under a hold that must not leave any more, without another check of the key', async () => {
  const own = await phone()
  holding({ of: 'instance' }, 600_000)
  const out = [freshNumber(), freshNumber()]
  const ids: string[] = []
  for (const to of [...out, freshNumber()]) {
    ids.push(await send(own, to))
    await until(async () => (await statesOf(databaseUrl, ids)).every((state) => state === 'held by instance'))
  }
  for (const phone of out) await createSuppression(contexts[0] as Context, { phone })
  const key = `instance ${own}`
  await putOff(`data->>'key'`, key)
  await sql(databaseUrl).query('delete from send_holds where key = $1', [key])
  apps[0]?.signals.emit('held', key, 0)
  await allAccepted(databaseUrl, ids.slice(-1))
  expect(await statesOf(databaseUrl, ids.slice(0, -1))).toEqual(out.map(() => 'failed RECIPIENT_SUPPRESSED'))
})

it('marks an instance as restricted when a refusal says so', async () => {
  const own = await phone()
  net.answer = () => ({ outcome: 'refused', error: 'ACCOUNT_RESTRICTED', detail: 'temporarily blocked (368)', restricted: true })
  const id = await send(own)
  await until(async () => (await statesOf(databaseUrl, [id]))[0] === 'failed ACCOUNT_RESTRICTED')
  const { rows } = await sql(databaseUrl).query(
    `select "restrictedAt" is not null as restricted, "lastError", status from instances where id = $1`,
    [own],
  )
  expect(rows).toEqual([{ restricted: true, lastError: 'temporarily blocked (368)', status: 'connected' }])
})
