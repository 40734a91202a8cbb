// A step of a connection of the sandbox takes its locks in the order of a logout, the instance before the step, and holds up no other account.
import { expect, it } from 'vitest'
import { hostFor } from '../../src/app.ts'
import { createMoves } from '../../src/providers/sandbox/moves.ts'
import { addSteps } from '../../src/providers/sandbox/sandbox.sql.ts'
import { runDueSteps } from '../../src/providers/sandbox/steps.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { until } from '../kit/until.ts'
import { openApp, openWorkspace } from '../messages/rig.ts'

it('a step that waits for its instance does not hold itself meanwhile', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, instanceId } = await openWorkspace(databaseUrl)
  const pool = sql(databaseUrl)
  const host = hostFor(app, 'sandbox')
  const moves = createMoves(app, host)
  const run = async () => {
    await runDueSteps(app, host, moves, 0)
    await moves.ended()
  }
  await addSteps(pool, [{ instanceId, kind: 'disconnect', after: 0 }], 1)
  await whileHeld(
    databaseUrl,
    ['select from instances where id = $1 for no key update', instanceId],
    [run],
    ['select from sandbox_steps for update nowait'],
  )
  const { rows } = await pool.query('select status from instances where id = $1', [instanceId])
  expect(rows).toEqual([{ status: 'disconnected' }])
})

it('a step that waits for its instance holds up no step of another one', async () => {
  const databaseUrl = await cloneDatabase()
  const accounts = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const [locked, free] = (await Promise.all(accounts.map((account) => connectedInstance(databaseUrl, account)))).map(
    ({ id }) => id,
  )
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  const host = hostFor(app, 'sandbox')
  const moves = createMoves(app, host)
  const dropped = async () =>
    (await pool.query(`select id from instances where status = 'disconnected'`)).rows.map(({ id }) => id)
  const drop = (instanceId = '') => addSteps(pool, [{ instanceId, kind: 'disconnect', after: 0 }], 1)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from instances where id = $1 for no key update', [locked])
  // The one that waits is due first.
  await drop(locked)
  await runDueSteps(app, host, moves, 0)
  await drop(free)
  await until(async () => {
    await runDueSteps(app, host, moves, 0)
    return (await dropped()).length > 0
  })
  expect(await dropped()).toEqual([free])
  await holder.query('rollback')
  holder.release()
  // If it met the time limit of a lock meanwhile, it is tried again.
  await until(async () => {
    await runDueSteps(app, host, moves, 0)
    return (await dropped()).length === 2
  })
  await moves.ended()
})
