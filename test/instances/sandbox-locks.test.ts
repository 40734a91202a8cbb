// A step of a connection of the sandbox takes its locks in the order of a logout, the instance before the step.
import { expect, it } from 'vitest'
import { hostFor } from '../../src/app.ts'
import { addSteps } from '../../src/providers/sandbox/sandbox.sql.ts'
import { runDueSteps } from '../../src/providers/sandbox/steps.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from '../messages/rig.ts'

it('a step that waits for its instance does not hold itself meanwhile', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, instanceId } = await openWorkspace(databaseUrl)
  const pool = sql(databaseUrl)
  await addSteps(pool, [{ instanceId, kind: 'disconnect', after: 0 }], 1)
  const logout = await pool.connect()
  try {
    await logout.query('begin')
    await logout.query('select from instances where id = $1 for no key update', [instanceId])
    const { pid } = (await logout.query('select pg_backend_pid() as pid')).rows[0]
    const run = runDueSteps(app, hostFor(app, 'sandbox'), 0)
    const waiting = 'select from pg_stat_activity where $1::int = any(pg_blocking_pids(pid))'
    await until(async () => (await pool.query(waiting, [pid])).rowCount === 1)
    expect((await logout.query('select from sandbox_steps for update nowait')).rowCount).toBe(1)
    await logout.query('commit')
    await run
  } finally {
    logout.release(true)
  }
  const { rows } = await pool.query('select status from instances where id = $1', [instanceId])
  expect(rows).toEqual([{ status: 'disconnected' }])
})
