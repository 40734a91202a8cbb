// Proves that a job redelivers the deliveries that a status and a time select, each once, with progress, and refuses what it should.
import { beforeAll, describe, expect, it } from 'vitest'
import { updateEndpoint } from '../../src/webhooks/service.ts'
import { until } from '../kit/until.ts'
import { type Asked, ask } from './ask.ts'
import { openReceiver, type Receiver, status } from './receiver.ts'
import { newRig, openRig, type Rig, settled } from './rig.ts'

const start = `mutation ($webhookId: ID!, $since: DateTime, $status: DeliveryStatus) {
  redeliverAll(webhookId: $webhookId, since: $since, status: $status) { id webhookId deliveryStatus status requestedCount progress }
}`
const read = `query ($id: ID!) { webhookRedelivery(id: $id) { status requestedCount processedCount progress error completedAt } }`

let rig: Rig
let receiver: Receiver

beforeAll(async () => {
  rig = await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '0.001' } })
})

async function done(asked: Asked) {
  expect(asked.errors).toBeUndefined()
  const { id } = asked.data.redeliverAll
  return await until(async () => {
    const job = (await ask(rig, read, { id })).data.webhookRedelivery
    return job.completedAt ? job : null
  })
}

/** Adds deliveries without an event of their own to copy, each with an event that no other has. */
async function addFailed(endpointId: string, count: number, first: number): Promise<void> {
  const { workspaceId } = rig.account
  await rig.app.pool.query(
    `with added as (
       insert into events (seq, id, "workspaceId", type, payload, "createdAt")
       select $3 + n, gen_random_uuid(), $4, 'message.sent', '{}', now() from generate_series(1, $2) n returning seq, id
     )
     insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, status, attempts, "attemptsLeft", error)
     select gen_random_uuid(), $1, seq, id, 'message.sent', 'failed', 5, 0, 'timeout' from added`,
    [endpointId, count, first, workspaceId],
  )
}

/** Makes deliveries of events up to that number two days old. */
async function makeOld(endpointId: string, lastSeq: number): Promise<void> {
  await rig.app.pool.query(
    `update webhook_deliveries set "createdAt" = now() - interval '2 days' where "endpointId" = $1 and "eventSeq" <= $2`,
    [endpointId, lastSeq],
  )
}

describe('a redelivery of all', () => {
  it('makes one more attempt of each failed delivery, and of no other', async () => {
    receiver = await openReceiver(status(500))
    const { id: webhookId } = await rig.endpoint(receiver.url)
    await rig.emit(3)
    await settled(rig, webhookId, 'failed', 3)
    receiver.answer = status(200)
    await rig.emit(2)
    await until(async () => (await rig.deliveries(webhookId)).filter(({ status }) => status === 'delivered').length === 2)
    const before = receiver.requests.length
    const asked = await ask(rig, start, { webhookId })
    expect(asked.data.redeliverAll).toMatchObject({ webhookId, deliveryStatus: 'failed', status: 'pending', progress: 0 })
    expect(await done(asked)).toMatchObject({ status: 'done', requestedCount: 3, processedCount: 3, progress: 100, error: null })
    await settled(rig, webhookId, 'delivered', 5)
    expect(receiver.requests.length - before).toBe(3)
    const { data } = await ask(rig, 'query ($id: ID!) { webhook(id: $id) { redelivery { id progress } } }', { id: webhookId })
    expect(data.webhook.redelivery).toEqual({ id: asked.data.redeliverAll.id, progress: 100 })
    await updateEndpoint(rig.ctx, webhookId, { enabled: false })
  })

  it('takes a time and another status, works through many chunks, and lets new events pass', async () => {
    const many = await openReceiver()
    const { id: webhookId } = await rig.endpoint(many.url)
    await addFailed(webhookId, 2_500, 5_000_000)
    await makeOld(webhookId, 5_000_500)
    const since = new Date(Date.now() - 86_400_000).toISOString()
    expect(await done(await ask(rig, start, { webhookId, since }))).toMatchObject({
      requestedCount: 2_000,
      processedCount: 2_000,
    })
    await until(() => many.requests.length === 2_000)
    const ids = many.requests.map((request) => request.headers['webhook-id'])
    expect(new Set(ids).size).toBe(2_000)
    const due = 'select from webhook_deliveries where "endpointId" = $1 and "nextAttemptAt" is not null limit 1'
    await until(async () => (await rig.app.pool.query(due, [webhookId])).rowCount === 0)
    await makeOld(webhookId, 5_002_490)
    expect(await done(await ask(rig, start, { webhookId, since, status: 'delivered' }))).toMatchObject({ requestedCount: 10 })
    await until(() => many.requests.length === 2_010)
    await updateEndpoint(rig.ctx, webhookId, { enabled: false })
  })

  it('is refused while another runs, for a disabled or foreign endpoint, and for what was not attempted', async () => {
    const idle = await newRig(rig.app)
    const { id: webhookId } = await idle.endpoint('https://a.example/')
    const codeOf = async (variables: object, by: Pick<Rig, 'ctx'> = idle) =>
      (await ask(by, start, { webhookId, ...variables })).errors?.[0]?.extensions.code
    expect(await codeOf({ status: 'pending' })).toBe('VALIDATION_ERROR')
    expect(await codeOf({ since: 'x' })).toBe('VALIDATION_ERROR')
    expect(await codeOf({}, rig)).toBe('NOT_FOUND')
    const unpaid = { ctx: { ...idle.ctx, principal: { ...idle.ctx.principal, active: false } } }
    expect(await codeOf({}, unpaid)).toBe('SUBSCRIPTION_INACTIVE')
    await idle.app.pool.query('update webhook_endpoints set "disabledAt" = now() where id = $1', [webhookId])
    expect(await codeOf({})).toBe('INVALID_STATE')
    await idle.app.pool.query(
      `insert into webhook_redeliveries (id, "workspaceId", "endpointId", "of", since)
       values (gen_random_uuid(), $1, $2, 'failed', now())`,
      [idle.account.workspaceId, webhookId],
    )
    await idle.app.pool.query('update webhook_endpoints set "disabledAt" = null where id = $1', [webhookId])
    expect(await codeOf({})).toBe('INVALID_STATE')
  })

  it('counts before it locks the endpoint, for which the outcomes of attempts wait', async () => {
    const pool = rig.app.pool
    const { id: webhookId } = await rig.endpoint('https://a.example/')
    await addFailed(webhookId, 1, 7_000_000)
    const maintenance = await pool.connect()
    let asked: Asked
    try {
      await maintenance.query('begin')
      await maintenance.query('set local idle_in_transaction_session_timeout = 0')
      await maintenance.query('lock table webhook_deliveries in access exclusive mode')
      asked = await ask(rig, start, { webhookId })
      await until(async () => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
             and query like '%count(*)%' and query like '%webhook_deliveries%"createdAt" <= %'`,
        )
        return rowCount
      })
      await maintenance.query('select from webhook_endpoints where id = $1 for no key update nowait', [webhookId])
      await maintenance.query('update webhook_endpoints set "disabledAt" = now() where id = $1', [webhookId])
      await maintenance.query('commit')
    } finally {
      maintenance.release(true)
    }
    expect(await done(asked)).toMatchObject({ status: 'failed', error: 'endpoint_disabled' })
  })

  it('ends when the endpoint is disabled meanwhile', async () => {
    const { id: webhookId } = await rig.endpoint('https://a.example/')
    await addFailed(webhookId, 1, 6_000_000)
    await rig.app.pool.query('update webhook_endpoints set "disabledAt" = now() where id = $1', [webhookId])
    const { rows } = await rig.app.pool.query(
      `insert into webhook_redeliveries (id, "workspaceId", "endpointId", "of", since)
       values (gen_random_uuid(), $1, $2, 'failed', now()) returning id`,
      [rig.account.workspaceId, webhookId],
    )
    await rig.app.boss.send('webhook.redeliver', { id: rows[0].id })
    const job = await until(async () => {
      const { webhookRedelivery } = (await ask(rig, read, { id: rows[0].id })).data
      return webhookRedelivery.completedAt ? webhookRedelivery : null
    })
    expect(job).toMatchObject({ status: 'failed', error: 'endpoint_disabled', processedCount: 0 })
  })
})
