// The outcome of an attempt whose lease is over comes late: after a redelivery was accepted, it does not take that away.
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { claimByIds } from '../../src/webhooks/claim.sql.ts'
import { redeliver } from '../../src/webhooks/redeliver.ts'
import { makeChunkDue } from '../../src/webhooks/redelivery.sql.ts'
import { settleDeliveries } from '../../src/webhooks/settle.ts'
import { openRig, type Rig } from './rig.ts'

const verdict = { delivered: false, responseCode: 500, error: null, gone: false, retryAfterMs: undefined }

/** A delivery whose process stopped in its second attempt for longer than the lease, and the settling of that attempt. */
async function frozen(rig: Rig) {
  const endpoint = await rig.endpoint('https://hooks.example/')
  const id = newId()
  await rig.app.pool.query(
    `with event as (
       insert into events (seq, id, "workspaceId", type, payload, "createdAt")
       values (1, gen_random_uuid(), $3, 'message.sent', '{}', now()) returning seq, id
     )
     insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, status, attempts, "attemptsLeft", "nextAttemptAt")
     select $1, $2, seq, id, 'message.sent', 'retrying', 1, 4, now() from event`,
    [id, endpoint.id, rig.account.workspaceId],
  )
  const [delivery] = await claimByIds(rig.app.pool, newId(), [id])
  if (!delivery) throw new Error('not claimed')
  await rig.app.pool.query(`update webhook_deliveries set "leaseUntil" = now() - interval '1 second' where id = $1`, [id])
  const wake = () =>
    settleDeliveries(rig.app, [{ delivery, verdict, at: new Date(), durationMs: 1, answer: null, headers: null }])
  return { id, endpointId: endpoint.id, wake }
}

/** The attempt that a process claims now; undefined if none is due. */
async function dueNow(rig: Rig, id: string): Promise<number | undefined> {
  return (await claimByIds(rig.app.pool, newId(), [id]))[0]?.attempt
}

it('a redelivery that was accepted is made, although the outcome of the attempt before comes after it', async () => {
  const rig = await openRig({ working: false, env: { WEBHOOK_RETRY_BASE_SECONDS: '60' } })
  const { id, wake } = await frozen(rig)
  await redeliver(rig.ctx, id)
  await wake()
  expect(await dueNow(rig, id)).toBe(3)
})

it('a redelivery of many deliveries is made, although such an outcome comes after it', async () => {
  const rig = await openRig({ working: false, env: { WEBHOOK_RETRY_BASE_SECONDS: '60' } })
  const { id, endpointId, wake } = await frozen(rig)
  const selection = { endpointId, since: new Date(0), createdAt: new Date(Date.now() + 60_000), of: 'retrying' as const }
  const { made } = await sqlTransaction(rig.app.pool, (tx) =>
    makeChunkDue(tx, { ...selection, afterTime: null, afterId: null }, 10),
  )
  expect(made).toEqual([id])
  await wake()
  expect(await dueNow(rig, id)).toBe(3)
})
