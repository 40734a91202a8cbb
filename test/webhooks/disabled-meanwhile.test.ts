// An endpoint is disabled while a request or a change of the plan is about to enable it or to let it rest: neither undoes that.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { transaction } from '../../src/core/database/transaction.ts'
import { limitedEndpoints } from '../../src/webhooks/over-plan.ts'
import { createEndpoint, updateEndpoint } from '../../src/webhooks/service.ts'
import { createAccount } from '../kit/accounts.ts'
import { cloneDatabase } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { contextFor, openApp } from '../messages/rig.ts'

const mostOfFree = 3
const url = 'http://127.0.0.1:9/'

let databaseUrl: string
let app: App

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  app = await openApp(databaseUrl)
})

/** A workspace of the plan Free with as many endpoints as the plan allows, and one that an operator gave beyond it. Returns the first. */
async function crowded(): Promise<{ ctx: Context; id: string }> {
  const ctx = contextFor(app, await createAccount(databaseUrl, { plan: 'free' }))
  const { id } = await createEndpoint(ctx, { url, events: ['message.sent'] })
  await app.pool.query(
    `insert into webhook_endpoints (id, "workspaceId", url, events, secret)
     select gen_random_uuid(), "workspaceId", url, events, secret from webhook_endpoints, generate_series(1, $2) where id = $1`,
    [id, mostOfFree],
  )
  return { ctx, id }
}

const disable = 'update webhook_endpoints set "disabledAt" = now(), "disabledReason" = $2 where id = $1'

async function reasonOf(id: string): Promise<unknown> {
  return (await app.pool.query('select "disabledReason" as reason from webhook_endpoints where id = $1', [id])).rows[0].reason
}

it.each([
  ['by_hand', { enabled: true }],
  ['failing', { url: `${url}new` }],
])('one that is disabled %s while it is changed is not enabled beyond the plan', async (reason, change) => {
  const { ctx, id } = await crowded()
  const changed = () =>
    updateEndpoint(ctx, id, change).then(
      () => 'enabled',
      (error: Error) => error.message,
    )
  expect(await whileHeld(databaseUrl, [disable, id, reason], [changed])).toEqual(['The plan allows no more webhook endpoints'])
  expect(await reasonOf(id)).toBe(reason)
})

const fitPlan = ({ principal: { ownerId } }: Context, most: number, fell: boolean) =>
  transaction(app.db, (tx) => limitedEndpoints.fit(app, tx, { ownerId, most, fell }))

it('one that rests, and whose member is removed while the plan allows it again, stays disabled', async () => {
  const { ctx, id } = await crowded()
  await app.pool.query(disable, [id, 'over_the_plan'])
  await whileHeld(databaseUrl, [disable, id, 'member_removed'], [() => fitPlan(ctx, 50, false)])
  expect(await reasonOf(id)).toBe('member_removed')
})

it('one that is disabled for another reason while the plan falls keeps that reason, and is not named as resting', async () => {
  const { ctx, id } = await crowded()
  const fitted = await whileHeld(databaseUrl, [disable, id, 'gone'], [() => fitPlan(ctx, 0, true)])
  expect(fitted).toEqual([{ rested: Array.from({ length: mostOfFree }, () => url), resting: mostOfFree }])
  expect(await reasonOf(id)).toBe('gone')
})
