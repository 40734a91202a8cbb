// Proves that one instance that cannot be connected keeps nothing else at rest when the plan allows it again.
import { expect, it } from 'vitest'
import { fitPlan } from '../../src/billing/fit-plan.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'

it('resumes an instance beside one whose secrets cannot be decrypted, which says so', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl, { plan: 'max' })
  const [foreign, sound] = [await connectedInstance(databaseUrl, account), await connectedInstance(databaseUrl, account)]
  const db = sql(databaseUrl)
  await db.query(`update instances set status = 'disconnected', "restingAt" = now(), "lastError" = 'rests' where "userId" = $1`, [
    account.userId,
  ])
  await db.query(`update instances set provider = 'cloud', credentials = 'of another key' where id = $1`, [foreign.id])
  await db.query('update subscriptions set rests = true where "userId" = $1', [account.userId])
  await fitPlan(await openApp(databaseUrl), account.userId)
  const { rows } = await db.query(
    'select id, status, "restingAt", "lastError" from instances where "userId" = $1 order by "createdAt", id',
    [account.userId],
  )
  const said = 'The secrets of this instance cannot be decrypted on this server'
  expect(rows).toEqual([
    { id: foreign.id, status: 'disconnected', restingAt: null, lastError: said },
    { id: sound.id, status: 'connected', restingAt: null, lastError: null },
  ])
})
