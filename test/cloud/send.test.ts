// Messages through Meta's Cloud API, from the request to the network: every type as Meta takes it, waits, lost answers and new tokens.
import { beforeAll, describe, expect, it } from 'vitest'
import { messageExamples, type SendType } from '../../src/message-types/service.ts'
import { until } from '../kit/until.ts'
import { fresh, openRig, type Phone, type Rig } from './rig.ts'

let rig: Rig
let phone: Phone

beforeAll(async () => {
  rig = await openRig({ CLOUD_RECONCILE_SECONDS: '1' })
  phone = await rig.phone()
})

function takenOf(id: string) {
  return rig.standIn.messages.filter((message) => message.biz_opaque_callback_data === id)
}

const messagesOf = () => new RegExp(`POST ${phone.number.id}/messages`)

const contactId = crypto.randomUUID()
it.each(Object.entries(messageExamples({ contactId })))('a message of type %s is as Meta takes it', async (type, { fields }) => {
  if (type === 'contact') {
    const { body } = await rig.api.post('contacts', { name: 'Ann Lee', phone: fresh() })
    Object.assign(fields, { contactId: body.data.id })
  }
  const id = await rig.send(phone.id, { type: type as SendType, ...fields })
  const row = await rig.settled(id)
  expect(row).toMatchObject({ status: 'sending', error: null, attempts: 1 })
  expect(takenOf(id)).toMatchObject([{ wamid: row.providerMessageId }])
})

it('a new token is used by the next send', async () => {
  const own = await rig.phone()
  own.number.accessToken = 'EAAnew'
  const { status, body } = await rig.api.put(`instances/${own.id}`, { settings: { accessToken: 'EAAnew' } })
  expect([status, body.data.status]).toEqual([200, 'connected'])
  expect(await rig.settled(await rig.send(own.id, {}))).toMatchObject({ error: null })
  const [used] = rig.standIn.requests.filter(({ path }) => path === `${own.number.id}/messages`)
  expect(used?.headers.authorization).toBe('Bearer EAAnew')
})

it('an order of messages to one recipient holds while one of them has to wait', async () => {
  const to = fresh()
  rig.standIn.addFault({ on: messagesOf(), effect: { code: 131056, status: 429 } })
  const ids: string[] = []
  for (const text of ['1', '2', '3']) ids.push(await rig.send(phone.id, { to, text }))
  for (const id of ids) await rig.settled(id)
  const sent = rig.standIn.messages.filter((message) => message.to === to.slice(1))
  expect(sent.map((message) => (message.text as { body: string }).body)).toEqual(['1', '2', '3'])
  expect((await rig.row(ids[0] as string)).attempts).toBe(1)
})

describe('a message that Meta refused', () => {
  it('has the reason in its words', async () => {
    rig.standIn.addFault({ on: messagesOf(), effect: { code: 131047, details: 'More than 24 hours have passed.' } })
    const id = await rig.send(phone.id, {})
    expect(await rig.settled(id)).toMatchObject({
      status: 'failed',
      error: 'OUTSIDE_WINDOW',
      errorDetail: 'More than 24 hours have passed. (131047)',
    })
  })

  it('because it restricts the account fails, and restricts the instance', async () => {
    const own = await rig.phone()
    const effect = { code: 131048, status: 403, details: 'Spam' }
    rig.standIn.addFault({ on: new RegExp(`POST ${own.number.id}/messages`), effect })
    expect(await rig.settled(await rig.send(own.id, {}))).toMatchObject({ error: 'ACCOUNT_RESTRICTED' })
    expect(await rig.state(own.id)).toEqual({ status: 'connected', lastError: 'Spam (131048)' })
    const { body } = await rig.api.get(`instances/${own.id}/health`)
    expect(body.data).toMatchObject({ warmupPolicy: { state: 'restricted' } })
  })

  it('for its token fails, and the next ones wait for a new token', async () => {
    const own = await rig.phone()
    const { accessToken } = own.number
    own.number.accessToken = 'EAAother'
    const refused = await rig.send(own.id, {})
    expect(await rig.settled(refused)).toMatchObject({ error: 'AUTH_INVALID', errorDetail: 'the access token was refused (190)' })
    expect(await rig.state(own.id)).toEqual({ status: 'disconnected', lastError: 'the access token was refused (190)' })
    const waiting = await rig.send(own.id, {})
    own.number.accessToken = accessToken
    expect(await rig.connect(own.id)).toMatchObject({ status: 'connected' })
    expect(await rig.settled(waiting)).toMatchObject({ error: null })
  })
})

describe('a message whose answer was lost', () => {
  it('is never sent again, and fails with UNKNOWN_OUTCOME when no status comes', async () => {
    rig.standIn.addFault({ on: messagesOf(), effect: 'lose' })
    const id = await rig.send(phone.id, {})
    await until(() => takenOf(id).length > 0)
    expect(await rig.settled(id, 'failed')).toMatchObject({ error: 'UNKNOWN_OUTCOME', providerMessageId: null })
    expect(takenOf(id)).toHaveLength(1)
  })
})
