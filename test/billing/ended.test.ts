// The plan and the orders of an account that has ended, while its instances are still being closed.
import { beforeAll, expect, it } from 'vitest'
import { fitPlan } from '../../src/billing/fit-plan.ts'
import { listPendingCheckouts } from '../../src/billing/service.ts'
import type { App } from '../../src/core/app.ts'
import { endAccount } from '../../src/teams/end-account.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'

let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
})

/** A Free account with two instances, of which the plan allows one. */
async function crowded(subscription: string) {
  const account = await createAccount(databaseUrl, { plan: 'free' })
  const [first, second] = [await connectedInstance(databaseUrl, account), await connectedInstance(databaseUrl, account)]
  await sql(databaseUrl).query(`update subscriptions set ${subscription} where "userId" = $1`, [account.userId])
  return { account, first: first.id, second: second.id }
}

async function resting({ workspaceId }: Account): Promise<string[]> {
  const { rows } = await sql(databaseUrl).query<{ id: string }>(
    'select id from instances where "workspaceId" = $1 and "restingAt" is not null',
    [workspaceId],
  )
  return rows.map(({ id }) => id)
}

it('an account whose plan fell just before it ended gets no mail, and its instances do not rest', async () => {
  const app: App = await openApp(databaseUrl)
  const { account } = await crowded('"fellAt" = now()')
  await endAccount(app, account.userId)
  await fitPlan(app, account.userId)
  expect(await resting(account)).toEqual([])
  expect(await prisma(databaseUrl).mail.count()).toBe(0)
})

it('an instance that rested when its account ended does not work again when another one is closed', async () => {
  const app: App = await openApp(databaseUrl)
  const { account, first, second } = await crowded('rests = true')
  await sql(databaseUrl).query(`update instances set "restingAt" = now(), status = 'disconnected' where id = $1`, [second])
  await endAccount(app, account.userId)
  await sql(databaseUrl).query('update instances set "deletedAt" = now() where id = $1', [first])
  await fitPlan(app, account.userId)
  expect(await resting(account)).toEqual([second])
})

it('the orders of an account that has ended do not wait for an operator any more', async () => {
  const app: App = await openApp(databaseUrl)
  const account = await createAccount(databaseUrl, { plan: 'free' })
  await sql(databaseUrl).query(
    `insert into checkouts (id, "userId", plan, provider) values (gen_random_uuid(), $1, 'pro', 'manual')`,
    [account.userId],
  )
  await endAccount(app, account.userId)
  expect(await listPendingCheckouts(prisma(databaseUrl))).toEqual([])
})
