// Proves an Idempotency-Key after time has passed: an accepted request gets the same answer, and no key is kept beyond its
// retention.
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCampaign } from '../../src/campaigns/create.ts'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { fingerprintOf, keepFailure } from '../../src/core/idempotency/idempotency.ts'
import { pruneKeys } from '../../src/core/idempotency/prune.ts'
import { createEgress } from '../../src/core/network/egress.ts'
import { lookupNumbers } from '../../src/instances/lookup.ts'
import { cancelMessage, scheduleMessage, sendMessage, sendMessages } from '../../src/messages/service.ts'
import { createEndpoint } from '../../src/webhooks/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from '../messages/rig.ts'

let databaseUrl: string
let app: App
let ctx: Context
let instanceId: string

beforeEach(async () => {
  databaseUrl = await cloneDatabase()
  ;({ app, ctx, instanceId } = await openWorkspace(databaseUrl))
})

/** The same request, as a new arrival each time. */
function request(): Context {
  return { ...ctx, idempotency: { key: 'once', fingerprint: Buffer.from('once'), replayed: false } }
}

describe('a repeated request whose scheduled time has passed', () => {
  let scheduledAt: string
  const text = (to: string) => ({ instanceId, to, type: 'text', text: 'later', scheduledAt })
  /** Fakes the clock only: timers run normally. */
  const letItPass = () => vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(scheduledAt) + 1_000 })

  beforeEach(() => {
    scheduledAt = new Date(Date.now() + 60_000).toISOString()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is answered with the message that was scheduled', async () => {
    const first = await scheduleMessage(request(), text('+393331234501'))
    letItPass()
    const again = request()
    expect(await scheduleMessage(again, text('+393331234501'))).toEqual(first)
    expect(again.idempotency?.replayed).toBe(true)
  })

  it('is answered with the message that was scheduled under its own key in a bulk', async () => {
    const first = await sendMessages(ctx, [{ ...text('+393331234501'), idempotencyKey: 'own' }])
    letItPass()
    const again = [{ ...text('+393331234502'), idempotencyKey: 'new' }, text('+393331234503')]
    const { accepted, rejected } = await sendMessages(ctx, [...again, { ...text('+393331234501'), idempotencyKey: 'own' }])
    expect(accepted).toEqual([{ index: 2, id: first.accepted[0]?.id }])
    expect(rejected.map(({ index, code }) => [index, code])).toEqual([0, 1].map((index) => [index, 'VALIDATION_ERROR']))
  })

  it('is refused with another key', async () => {
    await scheduleMessage(request(), text('+393331234501'))
    letItPass()
    const other = { ...ctx, idempotency: { key: 'other', fingerprint: Buffer.from('once'), replayed: false } }
    await expect(scheduleMessage(other, text('+393331234501'))).rejects.toThrow('scheduledAt: must be in the future')
  })

  it('is answered with the campaign that was scheduled', async () => {
    const { to, ...message } = text('+393331234501')
    const campaign = { ...message, name: 'Later', recipients: [{ to }] }
    const first = await createCampaign(request(), campaign)
    letItPass()
    expect((await createCampaign(request(), campaign)).id).toBe(first.id)
  })

  it('is answered with the accepted messages of a bulk request that was interrupted', async () => {
    const messages = [text('+393331234501'), { to: '5' }, text('+393331234502')]
    const first = await sendMessages(request(), messages)
    await sql(databaseUrl).query(`update idempotency_keys set result = null where key = 'once'`)
    letItPass()
    expect(await sendMessages(request(), messages)).toEqual(first)
    expect((await sql(databaseUrl).query('select from messages')).rowCount).toBe(2)
  })
})

it('answers a repeated endpoint request as before when its name now resolves to a private network', async () => {
  let address = '93.184.216.34'
  app.egress = createEgress({ allowed: [], resolve: async () => [address] })
  const endpoint = { url: 'https://hooks.example/', events: ['message.sent' as const] }
  const first = await createEndpoint(request(), endpoint)
  address = '10.0.0.1'
  expect(await createEndpoint(request(), endpoint)).toEqual(first)
  await expect(createEndpoint(ctx, endpoint)).rejects.toThrow(
    'url: must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
  )
})

it('keeps answers for 72 hours and no longer', async () => {
  await sql(databaseUrl).query(
    `insert into idempotency_keys ("workspaceId", key, fingerprint, result, "createdAt")
     select $1, 'key ' || i, '\\x00', '\\x00', now() - make_interval(hours => case when i <= 5 then 73 else 71 end) from generate_series(1, 7) i`,
    [ctx.principal.workspaceId],
  )
  expect(await pruneKeys.prune(app, 2)).toBe(5)
  const { rows } = await sql(databaseUrl).query('select key from idempotency_keys order by 1')
  expect(rows).toEqual([{ key: 'key 6' }, { key: 'key 7' }])
})

it('answers work that claims its key before it starts with its own refusal, each time', async () => {
  await sql(databaseUrl).query(`update instances set status = 'disconnected' where id = $1`, [instanceId])
  for (let attempt = 0; attempt < 2; attempt++) {
    const again = request()
    const refusal = await lookupNumbers(again, { instanceId, numbers: ['+393331234501'] }).catch((error: Error) => error)
    expect(((await keepFailure(again, refusal as Error)) as Error).message).toBe(
      'The instance is disconnected; connect it to look up numbers',
    )
  }
})

it('keeps the claim of work in progress when another request comes with its key', async () => {
  const claims = 'select encode(fingerprint, $1) as fingerprint from idempotency_keys where result is null'
  await sql(databaseUrl).query(
    `insert into idempotency_keys ("workspaceId", key, fingerprint) values ($1, 'once', 'another request')`,
    [ctx.principal.workspaceId],
  )
  const text = { instanceId, to: '+393331234501', type: 'text', text: 'hello' }
  await expect(sendMessage(request(), text)).rejects.toMatchObject({ extensions: { code: 'IDEMPOTENCY_KEY_REUSED' } })
  expect((await sql(databaseUrl).query(claims, ['escape'])).rows).toEqual([{ fingerprint: 'another request' }])
})

it('wakes the relay when a change has committed, so that its events are not late', async () => {
  const scheduledAt = new Date(Date.now() + 60_000).toISOString()
  const { id } = await scheduleMessage(ctx, { instanceId, to: '+393331234501', type: 'text', text: 'later', scheduledAt })
  const statuses: unknown[] = []
  app.signals.on('outbox', async () => {
    statuses.push((await sql(databaseUrl).query('select status from messages where id = $1', [id])).rows[0])
  })
  await cancelMessage(ctx, id)
  await vi.waitFor(() => expect(statuses).toEqual([{ status: 'cancelled' }]))
})

it('the key of a message in a bulk counts if the bulk has none', async () => {
  const text = { instanceId, to: '+393331234501', type: 'text', text: 'hello', idempotencyKey: 'own' }
  const first = await sendMessages(ctx, [text, text, { ...text, idempotencyKey: 'other' }])
  expect(new Set(first.accepted.map(({ id }) => id)).size).toBe(2)
  const again = await sendMessages(ctx, [text, { ...text, text: 'changed' }])
  expect(again.accepted).toEqual([{ index: 0, id: first.accepted[0]?.id }])
  expect(again.rejected).toMatchObject([{ index: 1, code: 'IDEMPOTENCY_KEY_REUSED' }])
})

describe('one key for many messages of a bulk', () => {
  const good = (text = 'hello') => ({ instanceId, to: '+393331234501', type: 'text', text, idempotencyKey: 'own' })
  const bad = () => ({ instanceId, to: '+393331234501', templateId: randomUUID(), idempotencyKey: 'own' })

  /** `sizes`: the numbers of messages of the transactions that the bulk takes. */
  async function sendAll(messages: readonly object[]) {
    const observe = vi.spyOn(app.metrics.batchSize, 'observe')
    const result = await sendMessages(ctx, messages)
    return { ...result, sizes: (observe.mock.calls as unknown[][]).map(([, size]) => size) }
  }

  it('sends the same message once, in one transaction', async () => {
    const { accepted, sizes } = await sendAll(Array(30).fill(good()))
    expect([accepted.length, new Set(accepted.map(({ id }) => id)).size, sizes]).toEqual([30, 1, [30]])
    expect((await sql(databaseUrl).query('select from messages')).rowCount).toBe(1)
  })

  it('refuses the same message in one transaction', async () => {
    const { rejected, sizes } = await sendAll(Array(30).fill(bad()))
    expect([rejected.map(({ code }) => code), sizes]).toEqual([Array(30).fill('NOT_FOUND'), [30]])
  })

  it('tries different messages alone until one is accepted, so that they take no part in the transactions of others', async () => {
    const { rejected, sizes } = await sendAll(Array.from({ length: 10 }, bad))
    expect([rejected.map(({ code }) => code), sizes]).toEqual([Array(10).fill('NOT_FOUND'), [10, ...Array(9).fill(1)]])
  })

  it('belongs to the first message that is not refused', async () => {
    const first = bad()
    const { accepted, rejected } = await sendAll([first, good(), first, good(), good('other')])
    expect(accepted.map(({ index }) => index)).toEqual([1, 3])
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(1)
    const codes = ['NOT_FOUND', 'NOT_FOUND', 'IDEMPOTENCY_KEY_REUSED']
    expect(rejected.map(({ index, code }) => [index, code])).toEqual([0, 2, 4].map((index, i) => [index, codes[i]]))
  })
})

it('a path with a trailing slash is the same request', () => {
  const of = (url: string) => fingerprintOf({ method: 'POST', url }, Buffer.from('{}')).toString('hex')
  expect(of('/api/v1/messages/send/')).toBe(of('/api/v1/messages/send'))
  expect(of('/api/v1/messages/send/?a=/')).toBe(of('/api/v1/messages/send?a=/'))
  expect(of('/api/v1/messages/send?a=/')).not.toBe(of('/api/v1/messages/send?a='))
})
