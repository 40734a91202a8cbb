// A log that has lost its last events, as after the loss of a primary that was replicated asynchronously, gives their numbers to others.
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { until } from '../kit/until.ts'
import { countedView, openHub } from './hub-rig.ts'
import { emitMany, numberOf, wholeLog } from './rig.ts'

const loseAbove2 = `alter table events disable trigger events_kept; delete from events where seq > 2;
  alter table events enable trigger events_kept; update event_sequence set last = 2`

it('ends the streams of a process that goes on, and gives their readers the new events when they come back', async () => {
  const rig = await openHub()
  const { app, databaseUrl, place } = rig
  await emitMany(app.pool, place, 2)
  await until(async () => (await wholeLog(databaseUrl)).length === 2)
  const view = countedView(place, 'all')
  const before = await rig.followLog(view)
  await emitMany(app.pool, place, 3, 2)
  await until(() => before.events.length === 3)
  await app.pool.query(loseAbove2)
  await until(() => before.ended)
  const after = await rig.followLog(view)
  await emitMany(app.pool, place, 2, 100)
  await until(() => after.events.length === 2)
  expect(after.events.map(({ id, data }) => [id, numberOf(data)])).toEqual([
    ['3', 100],
    ['4', 101],
  ])
})

it('ends them also when as many events follow at once', async () => {
  const rig = await openHub()
  const { app, place } = rig
  const reader = await rig.followLog(countedView(place, 'all'))
  await emitMany(app.pool, place, 5)
  await until(() => reader.events.length === 5)
  await sqlTransaction(app.pool, async (tx) => {
    await tx.query(loseAbove2)
    await emitMany(tx, place, 6, 100)
  })
  await until(() => reader.ended)
  expect(reader.events.length).toBe(5)
})
