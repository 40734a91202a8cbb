// The webhooks of business accounts that instances use, leave and are about to use: they point at an instance that uses the account, or end.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { subscribeAgain } from '../../src/providers/cloud/connect.ts'
import { depart, leave } from '../../src/providers/cloud/depart.ts'
import { cloudHost } from '../../src/providers/cloud/host.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { type Callback, createVerified, openCallback } from './callback-rig.ts'
import { openProvider } from './provider-rig.ts'
import { openRig, type Rig, rigOf } from './rig.ts'
import type { MetaNumber } from './stand-in.ts'

let base: Rig
let rig: Rig
let callback: Callback

beforeAll(async () => {
  callback = await openCallback()
  base = await openRig({ PUBLIC_URL: callback.publicUrl })
})

// A workspace for each test, because a plan has room for few instances.
beforeEach(async () => {
  rig = rigOf(base.databaseUrl, base.standIn, base.gateway, await createAccount(base.databaseUrl))
})

const create = (number: MetaNumber, more: Record<string, unknown> = {}, from = rig) =>
  createVerified(from, callback, number, more)
const subscribe = (account: string) => new RegExp(`POST ${account}/subscribed_apps`)
const points = (account: string, id: string) => rig.standIn.callbackOf(account)?.url.endsWith(id)
const put = (id: string, settings: Record<string, unknown>) => rig.api.put(`instances/${id}`, { settings })

async function move(id: string, businessAccountId: string, status: string): Promise<void> {
  const { status: code, body } = await put(id, { businessAccountId })
  expect([code, body.data.status]).toEqual([200, status])
}

/** A number whose token has these business accounts besides its own, as the token of a business does. */
function numberWith(...accounts: string[]): MetaNumber {
  const number = rig.standIn.addNumber()
  for (const businessAccountId of accounts) rig.standIn.addNumber({ businessAccountId, accessToken: number.accessToken })
  return number
}

let accounts = 7_700
const account = () => String(++accounts)

/** A call that waits until the test opens the gate. */
function gate(on: RegExp): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  rig.standIn.addFault({ on, effect: promise })
  return resolve
}

/** Waits until no departure is left, of which each is either ended or not needed. */
async function noDepartures(id: string): Promise<void> {
  const pool = sql(rig.databaseUrl)
  await until(async () => (await pool.query('select from cloud_departures where "instanceId" = $1', [id])).rowCount === 0)
}

describe('another business account', () => {
  it('of a connected instance gets its webhooks, and the former one no longer has them', async () => {
    const next = account()
    const number = numberWith(next)
    const id = await create(number)
    await rig.connect(id)
    rig.standIn.addFault({ on: subscribe(next), effect: { code: 2, status: 503 } })
    await move(id, next, 'connected')
    await until(async () => (await rig.state(id)).lastError?.startsWith('the webhooks were not subscribed'))
    await until(() => points(next, id))
    await until(async () => (await rig.state(id)).lastError === null)
    await until(() => !rig.standIn.isSubscribed(number.businessAccountId))
    expect(await rig.state(id)).toEqual({ status: 'connected', lastError: null })
    await noDepartures(id)
  })

  it('leaves the webhooks of the former one to another instance that uses it', async () => {
    const next = account()
    const first = numberWith()
    const second = numberWith(first.businessAccountId, next)
    const [stays, leaves] = [await create(first), await create(second, { businessAccountId: first.businessAccountId })]
    await rig.connect(stays)
    await rig.connect(leaves)
    await move(leaves, next, 'connected')
    await until(() => points(next, leaves))
    await until(() => points(first.businessAccountId, stays))
    expect(rig.standIn.count(new RegExp(`DELETE ${first.businessAccountId}`))).toBe(0)
  })

  it('changed twice before Meta answers leaves none of the former ones pointed at us', async () => {
    const [second, third] = [account(), account()]
    const number = numberWith(second, third)
    const first = number.businessAccountId
    const id = await create(number)
    await rig.connect(id)
    const open = gate(new RegExp(`DELETE ${first}`))
    await move(id, second, 'connected')
    await until(() => points(second, id))
    await move(id, third, 'connected')
    open()
    await until(() => points(third, id))
    await until(() => !rig.standIn.isSubscribed(first) && !rig.standIn.isSubscribed(second))
    await noDepartures(id)
    expect(rig.standIn.isSubscribed(third)).toBe(true)
  })

  it('that is left and taken again keeps its webhooks, although their end was under way', async () => {
    // Without a worker, so that each step comes when the test takes it.
    const databaseUrl = await cloneDatabase()
    const { app, shop } = await openProvider(databaseUrl, rig.standIn, undefined, { PUBLIC_URL: callback.publicUrl })
    const { number, instance } = await shop()
    const { id } = instance
    const host = cloudHost(app)
    callback.verified.add((await host.instance(id))?.settings.verifyToken as string)
    const pointing = { instanceId: id, businessAccountId: number.businessAccountId }
    const use = (businessAccountId: string) =>
      sql(databaseUrl).query(
        `update instances set settings = settings || jsonb_build_object('businessAccountId', $2::text) where id = $1`,
        [id, businessAccountId],
      )
    await subscribeAgain(app, host, id, 0)
    await use(account())
    await sqlTransaction(app.pool, (tx) => leave(app, tx, pointing, number.accessToken))
    const open = gate(new RegExp(`DELETE ${number.businessAccountId}`))
    const departed = depart(app, host, pointing, 0)
    await until(() => rig.standIn.count(new RegExp(`DELETE ${number.businessAccountId}`)) === 1)
    await use(number.businessAccountId)
    await subscribeAgain(app, host, id, 0)
    open()
    await departed
    expect(points(number.businessAccountId, id)).toBe(true)
    expect((await sql(databaseUrl).query('select from cloud_departures')).rowCount).toBe(0)
  })
})

describe('while an instance connects', () => {
  it('another business account gets the webhooks, and a subscription of the former one that comes late ends', async () => {
    const next = account()
    const number = numberWith(next)
    const former = number.businessAccountId
    const id = await create(number)
    const open = gate(subscribe(former))
    await rig.api.post(`instances/${id}/connect`)
    await until(() => rig.standIn.count(subscribe(former)) === 1)
    await move(id, next, 'connecting')
    open()
    await until(() => points(next, id))
    await noDepartures(id)
    expect([rig.standIn.count(subscribe(former)), rig.standIn.isSubscribed(former)]).toEqual([2, false])
    expect(await rig.state(id)).toEqual({ status: 'connected', lastError: null })
    expect(points(next, id)).toBe(true)
  })

  it('a logout ends a subscription that comes late', async () => {
    const number = numberWith()
    const own = number.businessAccountId
    const id = await create(number)
    const open = gate(subscribe(own))
    await rig.api.post(`instances/${id}/connect`)
    await until(() => rig.standIn.count(subscribe(own)) === 1)
    await rig.api.post(`instances/${id}/logout`)
    open()
    await noDepartures(id)
    expect([rig.standIn.count(subscribe(own)), rig.standIn.isSubscribed(own)]).toEqual([2, false])
    expect(await rig.state(id)).toMatchObject({ status: 'logged_out' })
  })

  it('a new token counts, and not that the former one was refused', async () => {
    const number = numberWith()
    const id = await create(number, { accessToken: 'EAAformer' })
    const open = gate(new RegExp(`GET ${number.id}$`))
    await rig.api.post(`instances/${id}/connect`)
    await until(() => rig.standIn.count(new RegExp(`GET ${number.id}$`)) === 1)
    expect((await put(id, { accessToken: number.accessToken })).body.data.status).toBe('connecting')
    open()
    await until(() => points(number.businessAccountId, id))
    await noDepartures(id)
    expect(await rig.state(id)).toEqual({ status: 'connected', lastError: null })
  })
})

describe('an instance of another workspace', () => {
  const other = async () => rigOf(rig.databaseUrl, rig.standIn, rig.gateway, await createAccount(rig.databaseUrl))

  it('that merely names a business account gets none of its webhooks, and does not keep them', async () => {
    const number = numberWith()
    const id = await create(number)
    await rig.connect(id)
    const stranger = await other()
    const named = { businessAccountId: number.businessAccountId }
    const theirs = await create(rig.standIn.addNumber(), named, stranger)
    expect(await stranger.connect(theirs)).toMatchObject({ status: 'connected', lastError: expect.stringMatching(/\(100\)$/) })
    await rig.api.post(`instances/${id}/logout`)
    await until(() => !rig.standIn.isSubscribed(number.businessAccountId))
    await noDepartures(id)
  })

  it('that merely names a business account does not wait for others that do so too', async () => {
    const number = numberWith()
    const { businessAccountId } = number
    const id = await create(number)
    await rig.connect(id)
    const strangers = await Promise.all([other(), other(), other()])
    for (const stranger of strangers)
      await stranger.connect(await create(rig.standIn.addNumber(), { businessAccountId }, stranger))
    rig.standIn.addFault({ on: new RegExp(`${businessAccountId}/subscribed_apps`), effect: 'hang', times: strangers.length })
    await rig.api.post(`instances/${id}/logout`)
    await until(() => rig.standIn.hanging() === strangers.length)
    rig.standIn.clearFaults()
    await until(() => !rig.standIn.isSubscribed(businessAccountId))
    await noDepartures(id)
  })

  it('whose token has the business account too gets its webhooks', async () => {
    const number = numberWith()
    const partner = await other()
    const theirs = await create(rig.standIn.addNumber({ businessAccountId: number.businessAccountId }), {}, partner)
    await partner.connect(theirs)
    const id = await create(number)
    await rig.connect(id)
    expect(points(number.businessAccountId, id)).toBe(true)
    await rig.api.post(`instances/${id}/logout`)
    await until(() => points(number.businessAccountId, theirs))
    await noDepartures(id)
  })
})

it('an address that is too long for Meta is not subscribed, and said in words', async () => {
  const long = await openRig({ PUBLIC_URL: `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.example` })
  const id = await long.create(long.standIn.addNumber())
  expect(await long.connect(id)).toEqual({
    status: 'connected',
    lastError: 'the webhooks were not subscribed: its address is longer than 200 characters',
  })
  expect(long.standIn.count(/subscribed_apps/)).toBe(0)
})
