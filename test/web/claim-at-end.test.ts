// A lease that a process takes while it stops is given back at once, so that another process need not wait for its end.
import { expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { startHolder } from '../../src/providers/web/holder.ts'
import type { Host } from '../../src/providers/web/host.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

it('is free when the process has stopped', async () => {
  const databaseUrl = await cloneDatabase()
  const { app } = await openGateway({ databaseUrl, env: { ROLES: 'http' } })
  const { id } = await connectedInstance(databaseUrl, await createAccount(databaseUrl))
  const pool = sql(databaseUrl)
  await pool.query('insert into web_sessions ("instanceId") values ($1)', [id])
  const lapsed = `insert into instance_leases ("instanceId", node, token, "leaseUntil") values ($1, $2, 1, now() - interval '1 minute')`
  await pool.query(lapsed, [id, newId()])
  const locker = await pool.connect()
  try {
    await locker.query('begin')
    await locker.query('select from instance_leases for update')
    const { pid } = (await locker.query('select pg_backend_pid() as pid')).rows[0]
    const holder = startHolder(app, {} as Host, () => undefined)
    const waiting = 'select from pg_stat_activity where $1::int = any(pg_blocking_pids(pid))'
    await until(async () => (await pool.query(waiting, [pid])).rowCount === 1)
    const stopped = holder[Symbol.asyncDispose]()
    await locker.query('commit')
    await stopped
  } finally {
    locker.release()
  }
  const { rows } = await pool.query('select node, token::int, "leaseUntil" <= clock_timestamp() as free from instance_leases')
  expect(rows).toEqual([{ node: app.node, token: 2, free: true }])
})
