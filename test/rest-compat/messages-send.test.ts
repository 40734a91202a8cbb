// POST /api/v1/messages/send: every type, field and limit, and the record that is returned.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { messageExamples, sendTypes } from '../../src/message-types/service.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { badBodies, goodBodies } from './message-bodies.ts'
import { countOf, expectRefusal, messageRecord, newNumber, nobody, openRig, type Rig, text } from './rig.ts'

let rig: Rig
let contactId: string
let strangersContactId: string

beforeAll(async () => {
  rig = await openRig()
  contactId = await newContact(rig.tenant.account.workspaceId, 'Ada Lovelace', '+393331234567')
  strangersContactId = await newContact(rig.stranger.account.workspaceId, 'Bob', '+393331234568')
})

async function newContact(workspaceId: string, name: string, phone: string): Promise<string> {
  const id = newId()
  const values = [id, workspaceId, name, phone]
  await sql(rig.databaseUrl).query('insert into contacts (id, "workspaceId", name, phone, tags) values ($1, $2, $3, $4, $5)', [
    ...values,
    [],
  ])
  return id
}

function send(fields: Record<string, unknown>) {
  return rig.tenant.api.post('messages/send', { instanceId: rig.tenant.instance.id, to: newNumber(), ...fields })
}

describe('sending', () => {
  it.each(goodBodies)('accepts %s', async (_, fields, record) => {
    const answer = await send(fields)
    expect({ status: answer.status, body: answer.body }).toStrictEqual({
      status: 201,
      body: { data: messageRecord(rig.tenant, record) },
    })
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it.each(sendTypes)('accepts the example of type %s', async (type) => {
    const { fields } = messageExamples({ contactId })[type]
    const { status, body } = await send({ type, ...fields })
    expect({ status, data: body.data }).toMatchObject({ status: 201, data: { type, mediaUrl: fields.mediaUrl ?? null } })
  })

  it('accepts a contact to share', async () => {
    const answer = await send({ type: 'contact', contactId })
    expect(answer.status).toBe(201)
    expect(answer.body.data).toStrictEqual(messageRecord(rig.tenant, { type: 'contact', contactId, body: 'Ada Lovelace' }))
  })

  it('records the contact that a text is about', async () => {
    const answer = await send({ type: 'text', text: 'Hello', contactId })
    expect(answer.body.data).toStrictEqual(messageRecord(rig.tenant, { contactId, body: 'Hello' }))
  })

  it('stores the message before it answers; the status reaches read later', async () => {
    const { body } = await send({ type: 'text', text: 'Hello' })
    const stored = await sql(rig.databaseUrl).query('select body from messages where id = $1', [body.data.id])
    expect(stored.rows).toEqual([{ body: 'Hello' }])
    const read = await until(async () => {
      const { data } = (await rig.tenant.api.get(`messages/${body.data.id}`)).body
      return data.status === 'read' && data
    })
    expect(read).toStrictEqual({
      ...body.data,
      status: 'read',
      providerMessageId: expect.any(String),
      updatedAt: expect.any(String),
    })
  })

  it('accepts UUIDs in capitals as the same ids', async () => {
    const answer = await send({ type: 'text', text: 'x', instanceId: rig.tenant.instance.id.toUpperCase() })
    expect(answer.body.data.instanceId).toBe(rig.tenant.instance.id)
  })
})

describe('a refused send', () => {
  it.each(badBodies)('answers 400 and stores nothing: %s', async (_, fields, message) => {
    const before = await countMessages()
    expectRefusal(await send(fields), 400, 'VALIDATION_ERROR', message)
    expect(await countMessages()).toBe(before)
  })

  it.each([
    ['an instance that is not there', () => ({ type: 'text', text: 'x', instanceId: nobody }), 'Instance not found'],
    ["a stranger's instance", () => ({ type: 'text', text: 'x', instanceId: rig.stranger.instance.id }), 'Instance not found'],
    ['a contact that is not there', () => ({ type: 'contact', contactId: nobody }), 'Contact not found'],
    ["a stranger's contact", () => ({ type: 'contact', contactId: strangersContactId }), 'Contact not found'],
    [
      "a stranger's contact beside a text",
      () => ({ type: 'text', text: 'x', contactId: strangersContactId }),
      'Contact not found',
    ],
    ['a template that nobody has', () => ({ templateId: nobody, variables: { order: '5' } }), 'Template not found'],
  ])('answers 404 and stores nothing: %s', async (_, fields, message) => {
    const before = await countMessages()
    expectRefusal(await send(fields()), 404, 'NOT_FOUND', message)
    expect(await countMessages()).toBe(before)
  })

  it('answers 404 for a deleted instance', async () => {
    const created = await rig.tenant.api.post('instances', { name: 'Gone' })
    await rig.tenant.api.delete(`instances/${created.body.data.id}`)
    expectRefusal(
      await rig.tenant.api.post('messages/send', text(rig.tenant, { instanceId: created.body.data.id })),
      404,
      'NOT_FOUND',
      'Instance not found',
    )
  })
})

async function countMessages(): Promise<number> {
  return await countOf(rig, 'messages', "direction = 'outbound'")
}
