// The outcomes of an account's messages, day by day: counted once each, for all its workspaces.
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { readDays } from '../../src/messages/days.sql.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { until } from '../kit/until.ts'
import { newTenant, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
let tenant: Tenant

beforeAll(async () => {
  rig = await openRig()
  tenant = await newTenant(rig.gateway, rig.databaseUrl)
})

async function daysOf({ api }: Tenant, args = '') {
  const { body } = await api.graphql(`{ usage { days${args} { day sent delivered read failed received } } }`)
  expect(body.errors).toBeUndefined()
  return body.data.usage.days as {
    day: string
    sent: number
    delivered: number
    read: number
    failed: number
    received: number
  }[]
}

it('counts each status of each message on its day', async () => {
  for (const _ of [1, 2]) await tenant.api.post('messages/send', text(tenant))
  await tenant.api.post('messages/send', text(tenant, { to: '+393339990001' }))
  const days = await until(async () => {
    const list = await daysOf(tenant)
    const total = (name: 'sent' | 'read' | 'failed') => list.reduce((n, day) => n + day[name], 0)
    return total('read') === 2 && total('failed') === 1 && list
  })
  expect(days).toHaveLength(30)
  const dates = days.map(({ day }) => Date.parse(day))
  expect(dates.slice(1).every((date, i) => date - (dates[i] as number) === 86_400_000)).toBe(true)
  expect(days.reduce((n, { delivered }) => n + delivered, 0)).toBe(2)
  expect(days.slice(0, 28).every(({ sent, read, failed, received }) => sent + read + failed + received === 0)).toBe(true)
})

it('adds up all instances, and shows nothing of others', async () => {
  await sql(rig.databaseUrl).query(
    `insert into message_days ("workspaceId", "instanceId", day, received)
     select $1, gen_random_uuid(), (now() at time zone 'utc')::date - 5, n from generate_series(1, 3) n`,
    [tenant.account.workspaceId],
  )
  expect((await daysOf(tenant, '(last: 6)'))[0]).toMatchObject({ received: 6, sent: 0 })
  expect((await daysOf(rig.stranger, '(last: 90)')).every(({ received }) => received === 0)).toBe(true)
})

it('counts one instance alone, and nothing for one of another account', async () => {
  const ofOne = `(instanceId: "${tenant.instance.id}")`
  expect((await daysOf(tenant, ofOne)).reduce((n, { read }) => n + read, 0)).toBe(2)
  expect((await daysOf(tenant, ofOne)).every(({ received }) => received === 0)).toBe(true)
  expect((await daysOf(rig.stranger, ofOne)).every(({ sent }) => sent === 0)).toBe(true)
  const { body } = await tenant.api.graphql('{ usage { days(instanceId: "x") { day } } }')
  expect(body.errors[0]).toMatchObject({ message: 'instanceId: must be a UUID', extensions: { code: 'VALIDATION_ERROR' } })
})

it('has 1 to 90 days', async () => {
  for (const last of [0, 91]) {
    const { body } = await tenant.api.graphql(`{ usage { days(last: ${last}) { day } } }`)
    expect(body.errors[0]).toMatchObject({
      message: expect.stringMatching(/^last: must be /),
      extensions: { code: 'VALIDATION_ERROR' },
    })
  }
})

it('reads the rows of the last days alone, and of one instance those of this one', async () => {
  const databaseUrl = await cloneDatabase()
  const { workspaceId, userId } = await createAccount(databaseUrl)
  const pool = sql(databaseUrl)
  await pool.query(
    `insert into message_days ("workspaceId", "instanceId", day, sent)
     select $1, ('00000000-0000-7000-8000-' || lpad(i::text, 12, '0'))::uuid, (now() at time zone 'utc')::date - n, 1
     from generate_series(1, 100) i, generate_series(0, 399) n`,
    [workspaceId],
  )
  await pool.query('vacuum analyze message_days')
  const readBy = async (instanceId: string | null) => {
    const asked: pg.QueryConfig[] = []
    const seen = { query: (config: pg.QueryConfig) => pool.query(asked[asked.push(config) - 1] as pg.QueryConfig) }
    const days = await readDays(seen as unknown as pg.Pool, userId, 7, instanceId)
    return { sent: days.map(({ sent }) => sent), rows: await rowsRead(pool, asked) }
  }
  const all = await readBy(null)
  expect(all.sent).toEqual(Array(7).fill(100))
  // An index and its table may both be counted.
  expect(all.rows).toBeLessThan(2 * 700 + 100)
  const one = await readBy('00000000-0000-7000-8000-000000000001')
  expect(one.sent).toEqual(Array(7).fill(1))
  expect(one.rows).toBeLessThan(100)
})
