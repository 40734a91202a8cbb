// A logout takes its locks in the order of a claim, the session before the lease, so that neither waits for the other for ever.
import { expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openClient } from './rig.ts'

it('a logout does not hold the lease while it waits for the session', async () => {
  const databaseUrl = await cloneDatabase()
  const { api, create } = await openClient(databaseUrl, await openGateway({ databaseUrl, env: { ROLES: 'http' } }))
  const id = await create()
  const pool = sql(databaseUrl)
  await pool.query('insert into web_sessions ("instanceId") values ($1)', [id])
  const lapsed = `insert into instance_leases ("instanceId", node, token, "leaseUntil") values ($1, $2, 1, now() - interval '1 minute')`
  await pool.query(lapsed, [id, newId()])
  const claimer = await pool.connect()
  try {
    await claimer.query('begin')
    await claimer.query('select from web_sessions for update')
    const { pid } = (await claimer.query('select pg_backend_pid() as pid')).rows[0]
    const loggedOut = api.post(`instances/${id}/logout`)
    const waiting = 'select from pg_stat_activity where $1::int = any(pg_blocking_pids(pid))'
    await until(async () => (await pool.query(waiting, [pid])).rowCount === 1)
    expect((await claimer.query('select from instance_leases for update nowait')).rowCount).toBe(1)
    await claimer.query('commit')
    expect((await loggedOut).status).toBe(200)
  } finally {
    claimer.release(true)
  }
})
