// An endpoint is disabled while a request changes it: it is enabled again only as far as the plan allows.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { createEndpoint, updateEndpoint } from '../../src/webhooks/service.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from '../messages/rig.ts'

const mostOfFree = 3
const url = 'http://127.0.0.1:9/'

let app: App

beforeAll(async () => {
  app = await openApp(await cloneDatabase())
})

/** A workspace of the plan Free that has one endpoint more than the plan allows, as an operator may give it. */
async function crowded(): Promise<{ ctx: Context; id: string }> {
  const ctx = contextFor(app, await createAccount(app.config.databaseUrl as string, { plan: 'free' }))
  const made = []
  for (let i = 0; i < mostOfFree; i++) made.push(await createEndpoint(ctx, { url, events: ['message.sent'] }))
  const id = made[0]?.id as string
  await app.pool.query(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret)
     select gen_random_uuid(), "workspaceId", url, events, secret from webhook_endpoints where id = $1`,
    [id],
  )
  return { ctx, id }
}

it.each([
  ['by_hand', { enabled: true }],
  ['failing', { url: `${url}new` }],
])('one that is disabled %s while it is changed is not enabled beyond the plan', async (reason, change) => {
  const { ctx, id } = await crowded()
  const other = await app.pool.connect()
  await other.query('begin')
  await other.query('update webhook_endpoints set "disabledAt" = now(), "disabledReason" = $2 where id = $1', [id, reason])
  const changed = updateEndpoint(ctx, id, change).then(
    () => 'enabled',
    (error: Error) => error.message,
  )
  await until(async () => {
    const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await app.pool.query(text)).rowCount
  })
  await other.query('commit')
  other.release()
  expect(await changed).toBe('The plan allows no more webhook endpoints')
  const { rows } = await app.pool.query('select url, "disabledReason" from webhook_endpoints where id = $1', [id])
  expect(rows).toEqual([{ url, disabledReason: reason }])
})
