// Early receipts are tried in turns: an instance with very many of them does not delay those of others.
import { expect, it } from 'vitest'
import { earlyImplementation } from '../../src/messages/receipts/early.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openApp } from './rig.ts'

it('tries those of every instance before it goes on with the many of one', async () => {
  const databaseUrl = await cloneDatabase()
  const accounts = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const [many, one] = await Promise.all(accounts.map((account) => connectedInstance(databaseUrl, account)))
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  for (const [instance, count] of [
    [many, 1_001],
    [one, 1],
  ] as const) {
    await pool.query(
      `insert into early_receipts ("instanceId", "providerMessageId", status, at, "nextAt", "keptAt", restricted)
       select $1, 'unknown ' || n, 'sent', now(), now(), now() - interval '121 seconds', false from generate_series(1, $2::int) n`,
      [instance?.id, count],
    )
  }
  // Each trial is the last one, after which the receipt is gone.
  const left = async () => {
    const text = `select "instanceId", count(*)::int as n from early_receipts group by 1`
    return Object.fromEntries((await pool.query(text)).rows.map(({ instanceId, n }) => [instanceId, n]))
  }
  const goesOn = `delete from pgboss.job where name = 'receipts.early' returning data`
  const next = async () => (await pool.query(goesOn)).rows.map(({ data }) => data)

  const first = [many, one].map((instance) => ({ instanceId: instance?.id ?? '' }))
  await earlyImplementation.run(app, first)
  expect(await left()).toEqual({ [many?.id ?? '']: 501 })
  for (const rest of [1, undefined]) {
    const jobs = await next()
    expect(jobs).toEqual([{ instanceId: many?.id }])
    await earlyImplementation.run(app, jobs)
    expect((await left())[many?.id ?? '']).toBe(rest)
  }
  expect(await next()).toEqual([])
})
