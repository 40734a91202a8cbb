// POST /api/v1/messages/schedule and /messages/bulk: which times, bodies and sizes are accepted.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, messageRecord, newNumber, nobody, openRig, phone, type Rig, text, uuid } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

function schedule(scheduledAt: unknown) {
  return rig.tenant.api.post('messages/schedule', text(rig.tenant, { scheduledAt }))
}

const dayMs = 86_400_000

function fromNow(ms: number): Date {
  return new Date(Date.now() + ms)
}

/** One calendar year from now, plus `ms` milliseconds. */
function yearFromNow(ms: number): string {
  const at = fromNow(ms)
  at.setUTCFullYear(at.getUTCFullYear() + 1)
  return at.toISOString()
}

describe('scheduling', () => {
  it.each([
    ['a minute ahead', () => fromNow(60_000).toISOString()],
    ['with an offset', () => new Date(Date.now() + 7_260_000).toISOString().replace('Z', '+02:00')],
    ['without milliseconds', () => `${fromNow(60_000).toISOString().slice(0, 19)}Z`],
    ['a year ahead', () => yearFromNow(-60_000)],
  ])('accepts a time %s', async (_, at) => {
    const scheduledAt = at()
    const answer = await schedule(scheduledAt)
    const expected = messageRecord(rig.tenant, { body: 'Hello' })
    expect({ status: answer.status, body: answer.body }).toStrictEqual({ status: 201, body: { data: expected } })
    const { rows } = await sql(rig.databaseUrl).query('select "scheduledAt" from messages where id = $1', [answer.body.data.id])
    expect(rows[0]?.scheduledAt).toEqual(new Date(scheduledAt))
  })

  const form = /^scheduledAt: must be an ISO 8601 date and time with an offset/
  it.each<[string, () => unknown, string | RegExp]>([
    ['no time', () => undefined, 'scheduledAt: is required'],
    ['null', () => null, form],
    ['an empty text', () => '', form],
    ['a day that is not', () => '2027-02-30T00:00:00Z', form],
    ['24 hours', () => '2027-02-03T24:00:00Z', form],
    ['a leap second', () => '2027-02-03T10:00:60Z', form],
    ['no offset', () => '2027-02-03T10:00:00', form],
    ['a date only', () => '2027-02-03', form],
    ['a number', () => Date.now() + 60_000, form],
    ['an offset of 99 hours', () => '2027-02-03T10:00:00+99:99', form],
    ['the year 1', () => '0001-01-01T00:00:00Z', 'scheduledAt: must be in the future'],
    ['the year 275760', () => '+275760-01-01T00:00:00Z', form],
    ['a second ago', () => fromNow(-1_000).toISOString(), 'scheduledAt: must be in the future'],
    ['a year ago', () => fromNow(-365 * dayMs).toISOString(), 'scheduledAt: must be in the future'],
    ['more than a year ahead', () => yearFromNow(60_000), 'scheduledAt: must be at most one year ahead'],
  ])('refuses %s', async (_, at, message) => {
    expectRefusal(await schedule(at()), 400, 'VALIDATION_ERROR', message)
  })

  it('validates a message as sending does', async () => {
    const body = { scheduledAt: fromNow(60_000).toISOString(), to: '5', type: 'text' }
    const answer = await rig.tenant.api.post('messages/schedule', body)
    expectRefusal(answer, 400, 'VALIDATION_ERROR', /^instanceId: is required; to: must be an E\.164 number.*; text: is required$/)
    const foreign = text(rig.tenant, { scheduledAt: body.scheduledAt, instanceId: rig.stranger.instance.id })
    expectRefusal(await rig.tenant.api.post('messages/schedule', foreign), 404, 'NOT_FOUND', 'Instance not found')
    const template = { instanceId: rig.tenant.instance.id, to: newNumber(), templateId: nobody, scheduledAt: body.scheduledAt }
    expectRefusal(await rig.tenant.api.post('messages/schedule', template), 404, 'NOT_FOUND', 'Template not found')
  })

  it('sends at that time and never before', async () => {
    let at = fromNow(0)
    // The time may be past on arrival at a slow machine; such a request is refused and tried again.
    const body = await until(async () => {
      at = fromNow(1_200)
      const answer = await schedule(at.toISOString())
      return answer.status === 201 && answer.body
    })
    const columns = 'status, "sentAt", "acceptedAt"'
    const sent = await until(async () => {
      const { rows } = await sql(rig.databaseUrl).query(`select ${columns} from messages where id = $1`, [body.data.id])
      return rows[0]?.status === 'read' && rows[0]
    })
    expect((sent.acceptedAt as Date).getTime()).toBeGreaterThanOrEqual(at.getTime())
  })
})

describe('a bulk', () => {
  it('validates each message on its own', async () => {
    const good = text(rig.tenant)
    const messages = [
      good,
      { ...good, to: 'nobody' },
      { ...good, scheduledAt: fromNow(60_000).toISOString() },
      { ...good, scheduledAt: 'soon' },
      { ...good, instanceId: rig.stranger.instance.id },
      'a text',
      null,
      { ...good, type: undefined, text: undefined, templateId: nobody },
      { ...good, nonsense: 1 },
    ]
    const { status, body } = await rig.tenant.api.post('messages/bulk', { messages, nonsense: 1 })
    expect({ status, body }).toStrictEqual({
      status: 202,
      body: {
        data: {
          accepted: [0, 2, 8].map((index) => ({ index, id: uuid })),
          rejected: [
            { index: 1, code: 'VALIDATION_ERROR', message: expect.stringMatching(/^to: must be an E\.164 number/) },
            { index: 3, code: 'VALIDATION_ERROR', message: expect.stringMatching(/^scheduledAt: must be an ISO 8601/) },
            { index: 4, code: 'NOT_FOUND', message: 'Instance not found' },
            { index: 5, code: 'VALIDATION_ERROR', message: 'message: must be an object' },
            { index: 6, code: 'VALIDATION_ERROR', message: 'message: must not be null' },
            { index: 7, code: 'NOT_FOUND', message: 'Template not found' },
          ],
        },
      },
    })
    const { rows } = await sql(rig.databaseUrl).query('select id from messages where "to" = $1 and "workspaceId" = $2', [
      good.to,
      rig.tenant.account.workspaceId,
    ])
    expect(rows.map((row) => row.id).sort()).toEqual(body.data.accepted.map((item: { id: string }) => item.id).sort())
  })

  it.each<[string, unknown, string]>([
    ['nothing', {}, 'messages: is required'],
    ['an empty list', { messages: [] }, 'messages: must have at least 1 item'],
    ['1001 messages', { messages: Array.from({ length: 1001 }, () => ({})) }, 'messages: must have at most 1000 items'],
    ['no list', { messages: 'all' }, 'messages: must be an array'],
  ])('is refused with %s', async (_, body, message) => {
    expectRefusal(await rig.tenant.api.post('messages/bulk', body), 400, 'VALIDATION_ERROR', message)
  })

  it('accepts 1,000 messages of more than 1 MiB in all', async () => {
    const asleep = await connectedInstance(rig.databaseUrl, rig.tenant.account, { status: 'disconnected' })
    const messages = Array.from({ length: 1000 }, () => text(rig.tenant, { instanceId: asleep.id, text: 'x'.repeat(2000) }))
    const { status, body } = await rig.tenant.api.post('messages/bulk', { messages })
    expect({ status, accepted: body.data.accepted.length, rejected: body.data.rejected }).toEqual({
      status: 202,
      accepted: 1000,
      rejected: [],
    })
    expect(body.data.accepted.map((item: { index: number }) => item.index)).toEqual(messages.map((_, index) => index))
    const { rows } = await sql(rig.databaseUrl).query('select "to" from messages where "instanceId" = $1 order by id', [
      asleep.id,
    ])
    expect(new Set(rows.map((row) => row.to))).toEqual(new Set(messages.map((message) => message.to)))
    expect(rows[0]?.to).toEqual(phone)
  })

  it('is refused with 413 beyond 16 MiB', async () => {
    const body = JSON.stringify({ messages: ['x'.repeat(16 * 1024 * 1024)] })
    expectRefusal(await rig.tenant.api.post('messages/bulk', body), 413, 'PAYLOAD_TOO_LARGE')
  })
})
