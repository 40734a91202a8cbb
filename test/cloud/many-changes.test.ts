// A post of Meta that gives each item a change of its own.
import { expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { messageOf, openHookRig } from './hook-rig.ts'
import { envelope, statusOf } from './stand-in-hooks.ts'

it('is stored in as few transactions as one with a single change', async () => {
  const rig = await openHookRig()
  const line = await rig.line()
  const changes = Array.from({ length: 200 }, (_, n) => [
    { number: line.number, messages: [messageOf('text', { body: `hello ${n}` })] },
    { number: line.number, statuses: [statusOf({ wamid: `wamid.unknown${n}`, to: '+393331234567' }, 'sent')] },
  ])
  await rig.counted()
  expect(await rig.post(line, JSON.stringify(envelope(changes.flat())))).toBe(200)
  expect(await rig.counted()).toEqual({ applied: 200, unknown_message: 200 })
  const { rows } = await sql(rig.databaseUrl).query(
    `select (select count(distinct "createdAt")::int from messages where "instanceId" = $1) as messages,
       (select count(distinct "keptAt")::int from early_receipts where "instanceId" = $1) as statuses`,
    [line.id],
  )
  expect(rows).toEqual([{ messages: 1, statuses: 1 }])
})
