// A process is killed while the network of an instance hangs: another process sends the messages that hung, and those behind them.
import { expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { until } from '../kit/until.ts'
import { openStage, plainNumber, sendAll, text } from './rig.ts'

it('loses nothing of an instance that hangs when its process is killed, and keeps the order to each number', async () => {
  const stage = await openStage()
  const hanging = await connectedInstance(stage.databaseUrl, stage.account, { settings: { hangMs: 60_000 } })
  const doomed = await stage.start()
  const to = plainNumber()
  // More than may be in progress at once, so that some wait under the key of the instance.
  const bodies = Array.from({ length: 300 }, (_, i) => text(hanging, i < 3 ? to : plainNumber()))
  const [first] = await sendAll(stage.account, () => doomed, [text(hanging)])
  const pool = sql(stage.databaseUrl)
  await until(async () => {
    const { rows } = await pool.query(`select from pgboss.job j join messages m on j.id = m."leaseToken" where m.id = $1`, [
      first,
    ])
    return rows.length === 1
  })
  const ids = await sendAll(stage.account, () => doomed, bodies)
  await until(async () => (await pool.query('select from messages where "heldBy" is not null')).rowCount)
  doomed.kill('SIGKILL')
  await doomed.exited
  await pool.query(`update instances set settings = '{}' where id = $1`, [hanging.id])
  await stage.start()
  await expectInvariants(stage.databaseUrl, { acknowledged: [first as string, ...ids], messages: 301, withinMs: 90_000 })
  const { rows } = await pool.query<{ id: string; status: string; offers: number }>(
    `select m.id, m.status, s.offers from messages m join sandbox_messages s on s.reference = m.id::text order by s."acceptedAt"`,
  )
  expect(new Set(rows.map(({ status, offers }) => `${status} ${offers}x`))).toEqual(new Set(['read 1x']))
  expect(rows.map(({ id }) => id).filter((id) => ids.slice(0, 3).includes(id))).toEqual(ids.slice(0, 3))
})
