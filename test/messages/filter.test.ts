// Filters of lists of messages: several statuses, reasons, texts and numbers. Each is combined with the others, and a cursor is bound to all.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { newNumber, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
/** A tenant whose messages wait, so that the test decides about their statuses. */
let tenant: Tenant
let ids: string[]

const document = `query ($filter: MessageFilter, $first: Int, $after: String) {
  messages(filter: $filter, first: $first, after: $after, sort: createdAt_asc) {
    totalCount nodes { id errorCode } pageInfo { endCursor hasNextPage } } }`

async function list(filter: object, page: object = {}) {
  const { body } = await tenant.api.graphql(document, { filter, ...page })
  expect(body.errors).toBeUndefined()
  return body.data.messages
}

/** The places, in the order of `ids`, of the messages that a filter finds. */
async function found(filter: object): Promise<number[]> {
  return (await list(filter)).nodes.map(({ id }: { id: string }) => ids.indexOf(id))
}

async function refused(filter: object): Promise<string> {
  const { body } = await tenant.api.graphql(document, { filter })
  expect(body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  return body.errors[0].message
}

const bodies = ['100 % off_season', 'Order 4711', 'order 4712', 'ORDER back\\slash', 'Good morning', 'Bye']
const numbers = bodies.map(() => newNumber())

beforeAll(async () => {
  rig = await openRig()
  const instance = await connectedInstance(rig.databaseUrl, rig.tenant.account, { status: 'disconnected' })
  tenant = { ...rig.tenant, instance }
  ids = []
  for (const [i, body] of bodies.entries()) {
    ids.push((await tenant.api.post('messages/send', text(tenant, { text: body, to: numbers[i] }))).body.data.id)
  }
  const state = (status: string, error: string | null, n: number) =>
    sql(rig.databaseUrl).query('update messages set status = $2::message_status, error = $3 where id = $1', [
      ids[n],
      status,
      error,
    ])
  await state('failed', 'RECIPIENT_NOT_FOUND', 1)
  await state('failed', '131000', 2)
  await state('failed', 'PROVIDER_ERROR', 3)
  await state('cancelled', 'CONTACT_DELETED', 4)
  await sql(rig.databaseUrl).query(
    `update messages set direction = 'inbound', status = 'received', "to" = $2, "from" = peer where id = $1`,
    [ids[5], tenant.instance.waNumber],
  )
})

describe('a filter', () => {
  it('takes several statuses', async () => {
    expect(await found({ statuses: ['failed', 'cancelled'] })).toEqual([1, 2, 3, 4])
    expect(await found({ statuses: ['queued', 'received', 'queued'] })).toEqual([0, 5])
    expect(await found({ statuses: ['failed'], status: 'queued' })).toEqual([])
    expect((await list({ statuses: ['failed', 'cancelled'] })).totalCount).toBe(4)
    expect(await refused({ statuses: [] })).toMatch(/^statuses: /)
  })

  it('takes a reason, and PROVIDER_ERROR for every reason that only a network knows', async () => {
    expect(await found({ errorCode: 'RECIPIENT_NOT_FOUND' })).toEqual([1])
    expect(await found({ errorCode: 'PROVIDER_ERROR' })).toEqual([2, 3])
    expect(await found({ errorCode: 'CONTACT_DELETED', status: 'failed' })).toEqual([])
    expect(await found({ errorCode: 'CONTACT_DELETED', instanceId: tenant.instance.id })).toEqual([4])
    const { nodes } = await list({ errorCode: 'PROVIDER_ERROR' })
    expect(nodes.map(({ errorCode }: { errorCode: string }) => errorCode)).toEqual(['PROVIDER_ERROR', 'PROVIDER_ERROR'])
  })

  it('finds a text in the body, in any case, with every character as it is', async () => {
    expect(await found({ text: 'oRdEr' })).toEqual([1, 2, 3])
    expect(await found({ text: '% off_' })).toEqual([0])
    expect(await found({ text: 'k\\s' })).toEqual([3])
    expect(await found({ text: 'r_4' })).toEqual([])
    expect(await found({ text: 'order', statuses: ['failed'], errorCode: 'PROVIDER_ERROR' })).toEqual([2, 3])
    // Counting would read every body.
    expect((await list({ text: 'order' })).totalCount).toBeNull()
    expect(await refused({ text: '' })).toMatch(/^text: /)
    expect(await refused({ text: 'x'.repeat(201) })).toMatch(/^text: /)
  })

  it('searches the last 31 days for a text, and all days of one number, contact, campaign or reference', async () => {
    const age = (days: number) =>
      sql(rig.databaseUrl).query(`update messages set "createdAt" = now() - make_interval(days => $2) where id = $1`, [
        ids[0],
        days,
      ])
    await age(40)
    try {
      const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
      expect(await found({ text: 'season' })).toEqual([])
      expect(await found({ text: 'season', createdFrom: daysAgo(50) })).toEqual([])
      expect(await found({ text: 'season', phone: numbers[0] })).toEqual([0])
      expect(await found({ text: 'season', createdTo: daysAgo(20) })).toEqual([0])
      expect(await found({ text: 'season', createdFrom: daysAgo(39), createdTo: daysAgo(20) })).toEqual([])
    } finally {
      await age(0)
    }
  })

  it('takes the number of the other party, in both directions', async () => {
    expect(await found({ phone: numbers[5] })).toEqual([5])
    expect(await found({ phone: numbers[4] })).toEqual([4])
    expect(await found({ phone: numbers[4], direction: 'inbound' })).toEqual([])
  })

  it('is what a cursor is bound to', async () => {
    const { pageInfo } = await list({ statuses: ['failed'] }, { first: 2 })
    expect(pageInfo.hasNextPage).toBe(true)
    const next = await list({ statuses: ['failed'], errorCode: null }, { first: 2, after: pageInfo.endCursor })
    expect(next.nodes.map(({ id }: { id: string }) => id)).toEqual([ids[3]])
    const { body } = await tenant.api.graphql(document, { filter: { statuses: ['cancelled'] }, after: pageInfo.endCursor })
    expect(body.errors[0].message).toMatch(/^after: /)
  })

  it('finds nothing of others', async () => {
    const { body } = await rig.stranger.api.graphql(document, { filter: { text: 'order', phone: numbers[1] } })
    expect(body.data.messages.nodes).toEqual([])
    const ofInstance = await rig.stranger.api.graphql(document, { filter: { instanceId: tenant.instance.id } })
    expect(ofInstance.body.data.messages).toMatchObject({ nodes: [], totalCount: 0 })
  })
})
