// An instance that is deleted while the network has its messages: those that the network then gives back fail at once.
import { beforeAll, expect, it } from 'vitest'
import { deleteInstance } from '../../src/instances/service.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
})

const later: SendOutcome = { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: 3_600_000 }

it.each<[string, SendOutcome]>([
  ['with its instance', { ...later, holds: { of: 'instance' } }],
  ['with its recipient', { ...later, holds: { of: 'recipient' } }],
  ['by itself', later],
])('a message that would wait %s fails at once, and its quota returns', async (_, outcome) => {
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const pool = sql(databaseUrl)
  const { id } = await sendMessage(ctx, { instanceId, to: '+4915112345678', type: 'text', text: 'Hello' })
  const { claimed } = await claimMessages(app, [id])
  // The job of the attempt ends with it.
  await pool.query(`delete from pgboss.job where data->>'id' = $1`, [id])
  await deleteInstance(ctx, instanceId)
  await Promise.all(claimed.map((message) => settlement(app)({ message, outcome })))

  const due = await pool.query(`select from pgboss.job where data->>'id' = $1 and start_after <= now()`, [id])
  expect(due.rowCount).toBe(1)
  expect((await claimMessages(app, [id])).claimed).toEqual([])
  const { rows } = await pool.query(
    `select status, error, (select "messagesCount" from usage where "userId" = $2) as used from messages where id = $1`,
    [id, ctx.principal.userId],
  )
  expect(rows).toEqual([{ status: 'failed', error: 'INSTANCE_DELETED', used: 0 }])
})
