// The outcome of an attempt comes late, or again: it changes neither what happened to the delivery since, nor the health of the endpoint.
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { claimByIds } from '../../src/webhooks/claim.sql.ts'
import { redeliver } from '../../src/webhooks/redeliver.ts'
import { makeChunkDue } from '../../src/webhooks/redelivery.sql.ts'
import { updateEndpoint } from '../../src/webhooks/service.ts'
import { settleDeliveries } from '../../src/webhooks/settle.ts'
import { openRig, type Rig } from './rig.ts'

const verdict = { delivered: false, responseCode: 500, error: null, gone: false, retryAfterMs: undefined }
const gone = { ...verdict, responseCode: 410, gone: true }

/** A delivery with a claimed attempt, its second unless `made` says otherwise, and the settling of that attempt. */
async function claimed(rig: Rig, made = 1) {
  const endpoint = await rig.endpoint('https://hooks.example/')
  const id = newId()
  await rig.app.pool.query(
    `with event as (
       insert into events (seq, id, "workspaceId", type, payload, "createdAt")
       values (1, gen_random_uuid(), $3, 'message.sent', '{}', now()) returning seq, id
     )
     insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, status, attempts, "attemptsLeft", "nextAttemptAt")
     select $1, $2, seq, id, 'message.sent', 'retrying', $4, 5 - $4, now() from event`,
    [id, endpoint.id, rig.account.workspaceId, made],
  )
  const [delivery] = await claimByIds(rig.app.pool, newId(), [id])
  if (!delivery) throw new Error('not claimed')
  const settle = (outcome = verdict) =>
    settleDeliveries(rig.app, [{ delivery, verdict: outcome, at: new Date(), durationMs: 1, answer: null, headers: null }])
  return { id, endpointId: endpoint.id, settle }
}

/** The same after its process stopped for longer than the lease. */
async function frozen(rig: Rig) {
  const { id, endpointId, settle: wake } = await claimed(rig)
  await rig.app.pool.query(`update webhook_deliveries set "leaseUntil" = now() - interval '1 second' where id = $1`, [id])
  return { id, endpointId, wake }
}

async function healthOf(rig: Rig, endpointId: string) {
  const text =
    'select "failingSince" is not null as failing, "failedEvents", "disabledReason" from webhook_endpoints where id = $1'
  return (await rig.app.pool.query(text, [endpointId])).rows[0]
}

const healthy = { failing: false, failedEvents: 0, disabledReason: null }

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

it('an attempt that lost its lease says nothing about the endpoint, which others have attempted since', async () => {
  const rig = await openRig({ working: false })
  const { id, endpointId, wake } = await frozen(rig)
  await redeliver(rig.ctx, id)
  await wake(gone)
  expect(await healthOf(rig, endpointId)).toEqual(healthy)
})

it('an outcome that is stored again, because the database stored it without an answer, counts once', async () => {
  const rig = await openRig({ working: false })
  const { endpointId, settle } = await claimed(rig, 0)
  await settle()
  await settle()
  expect(await healthOf(rig, endpointId)).toEqual({ failing: true, failedEvents: 1, disabledReason: null })
})

it('such an outcome does not disable an endpoint that somebody has enabled since', async () => {
  const rig = await openRig({ working: false })
  const { endpointId, settle } = await claimed(rig)
  await settle(gone)
  expect(await healthOf(rig, endpointId)).toMatchObject({ disabledReason: 'gone' })
  await updateEndpoint(rig.ctx, endpointId, { enabled: true })
  await settle(gone)
  expect(await healthOf(rig, endpointId)).toEqual(healthy)
})
