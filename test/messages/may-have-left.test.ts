// A message that the network may have, although no attempt to send it was answered: it never ends as one that did not leave.
import { expect, it } from 'vitest'
import { deleteInstance } from '../../src/instances/service.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from './rig.ts'

/** Claims a message, whose attempt may have reached the network before the connection ended. `attempt`: its number. */
async function sentOnce(attempt = 1) {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { id } = await sendMessage(ctx, { instanceId, to: '+4915112345678', type: 'text', text: 'Hello' })
  const { claimed } = await claimMessages(app, [id])
  const outcome = { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: 0, mayHaveLeft: true } as const
  for (const message of claimed) await settlement(app)({ message: { ...message, attempt }, outcome })
  const row = async () => (await sql(databaseUrl).query('select status, error from messages where id = $1', [id])).rows[0]
  return { app, ctx, instanceId, id, row }
}

const unknown = { status: 'failed', error: 'UNKNOWN_OUTCOME' }

it('when its instance is deleted', async () => {
  const { app, ctx, instanceId, id, row } = await sentOnce()
  await deleteInstance(ctx, instanceId)
  await claimMessages(app, [id])
  expect(await row()).toEqual(unknown)
})

it('after the last attempt', async () => {
  expect(await (await sentOnce(12)).row()).toEqual(unknown)
})

it.each([
  { by: 'the gateway', byGateway: true, end: unknown },
  { by: 'the network, which knows', byGateway: false, end: { status: 'failed', error: 'MEDIA_REJECTED' } },
])('when its next attempt is refused by $by', async ({ byGateway, end }) => {
  const { app, id, row } = await sentOnce()
  const outcome = { outcome: 'refused', error: 'MEDIA_REJECTED', byGateway } as const
  await until(async () => {
    const { claimed } = await claimMessages(app, [id])
    for (const message of claimed) await settlement(app)({ message, outcome })
    return claimed.length === 1
  })
  expect(await row()).toEqual(end)
})
