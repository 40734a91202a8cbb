// A step of a connection of the sandbox takes its locks in the order of a logout, the instance before the step.
import { expect, it } from 'vitest'
import { hostFor } from '../../src/app.ts'
import { addSteps } from '../../src/providers/sandbox/sandbox.sql.ts'
import { runDueSteps } from '../../src/providers/sandbox/steps.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { openWorkspace } from '../messages/rig.ts'

it('a step that waits for its instance does not hold itself meanwhile', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, instanceId } = await openWorkspace(databaseUrl)
  const pool = sql(databaseUrl)
  await addSteps(pool, [{ instanceId, kind: 'disconnect', after: 0 }], 1)
  await whileHeld(
    databaseUrl,
    ['select from instances where id = $1 for no key update', instanceId],
    [() => runDueSteps(app, hostFor(app, 'sandbox'), 0)],
    ['select from sandbox_steps for update nowait'],
  )
  const { rows } = await pool.query('select status from instances where id = $1', [instanceId])
  expect(rows).toEqual([{ status: 'disconnected' }])
})
