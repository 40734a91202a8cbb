// The deletion of previous secrets locks endpoints in the order of their ids, as everything else does.
import { expect, it } from 'vitest'
import { deletePreviousSecrets, lockHealth } from '../../src/webhooks/endpoints.sql.ts'
import { whileHeld } from '../kit/held.ts'
import { openRig } from './rig.ts'

it('expired secrets are deleted while outcomes of the same endpoints are stored, without a deadlock', async () => {
  const rig = await openRig({ working: false })
  const { pool } = rig.app
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.push((await rig.endpoint('https://hooks.example/')).id)
  ids.sort()
  // The table then has them in the opposite order.
  for (const id of ids.toReversed())
    await pool.query(`update webhook_endpoints set "previousSecret" = '', "previousSecretUntil" = now() where id = $1`, [id])
  await whileHeld(
    rig.app.config.databaseUrl as string,
    ['select from webhook_endpoints where id = $1 for no key update', ids[1]],
    [async () => void (await lockHealth(pool, ids, ids)), () => deletePreviousSecrets(pool)],
  )
  expect((await pool.query('select from webhook_endpoints where "previousSecretUntil" is not null')).rowCount).toBe(0)
})
