// Meta is told that a received message was read.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { until } from '../kit/until.ts'
import { connect, type HookRig, type Line, messageOf, openHookRig, person } from './hook-rig.ts'

let rig: HookRig
let line: Line

beforeAll(async () => {
  rig = await openHookRig()
  line = await rig.line()
})

describe('markRead', () => {
  it('tells Meta that a received message was read, and answers with its record', async () => {
    const message = messageOf('text', { body: 'hello' })
    await rig.tell(line, { messages: [message] })
    const [{ id }] = (await rig.inbound(line)) as [{ id: string }]
    const { status, body } = await rig.api.post(`messages/${id}/read`)
    expect([status, body.data]).toMatchObject([200, { id, status: 'received', providerMessageId: message.id }])
    const told = { messaging_product: 'whatsapp', status: 'read', message_id: message.id }
    await until(() => rig.standIn.requests.some((request) => `${request.body}` === JSON.stringify(told)))
  })

  it('disconnects an instance whose token Meta refuses', async () => {
    const own = await rig.line()
    await connect(rig, own)
    const message = messageOf('text', { body: 'hello' })
    await rig.tell(own, { messages: [message] })
    const [{ id }] = (await rig.inbound(own)) as [{ id: string }]
    rig.standIn.addFault({ on: new RegExp(`POST ${own.number.id}/messages`), effect: { code: 190, status: 401 } })
    await rig.api.post(`messages/${id}/read`)
    await until(async () => (await rig.api.get(`instances/${own.id}`)).body.data.status === 'disconnected')
    expect(rig.standIn.count(new RegExp(`POST ${own.number.id}/messages`))).toBe(1)
  })

  it('is refused for a sent message and for an unknown one, and has nothing to tell the sandbox', async () => {
    const { id: instanceId } = await connectedInstance(rig.databaseUrl, rig.account)
    const sent = await rig.api.post('messages/send', { instanceId, to: `+${person()}`, type: 'text', text: 'hi' })
    const refused = await rig.api.post(`messages/${sent.body.data.id}/read`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE'])
    const unknown = await rig.api.graphql('mutation ($id: ID!) { markRead(id: $id) { id } }', { id: crypto.randomUUID() })
    expect(unknown.body.errors[0].extensions.code).toBe('NOT_FOUND')
    const inbound = await rig.api.post(`instances/${instanceId}/sandbox/inbound`, { from: `+${person()}`, text: 'hi' })
    expect((await rig.api.post(`messages/${inbound.body.data.id}/read`)).status).toBe(200)
  })
})
