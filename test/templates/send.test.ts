// Messages rendered from templates: the source of each value, and refusals that name the missing values.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { countOf, expectRefusal, messageRecord, nobody, type Rig, type Tenant } from '../rest-compat/rig.ts'
import { contact, inAnHour, made, openSender, template } from './rig.ts'

let rig: Rig
let asleep: Tenant
const file = 'https://files.example.com/a.bin'

beforeAll(async () => {
  ;({ rig, asleep } = await openSender())
})

function send(templateId: string, fields: Record<string, unknown> = {}): Promise<Answer> {
  return asleep.api.post('messages/send', made(asleep, templateId, fields))
}

describe('a message rendered from a template', () => {
  it.each<[type: string, body: string, record: Record<string, unknown>]>([
    ['text', 'No. {{custom.order}}', { body: 'No. 7' }],
    ['image', 'No. {{custom.order}}', { body: 'No. 7', mediaUrl: file }],
    ['video', '', { body: '', mediaUrl: file }],
    ['audio', 'No. {{custom.nothing}}', { body: '', mediaUrl: file }],
    ['document', 'No. {{ custom.order }}', { body: 'No. 7', mediaUrl: file }],
  ])('has the type of the template: %s', async (type, body, record) => {
    const id = await template(asleep, body, { type, mediaUrl: type === 'text' ? null : file })
    const answer = await send(id, { variables: { order: '7', more: 'ignored' }, text: '', mediaUrl: 'https://e.example/x.png' })
    expect({ status: answer.status, body: answer.body }).toStrictEqual({
      status: 201,
      body: { data: messageRecord(asleep, { type, ...record }) },
    })
  })

  it('arrives with its placeholders filled in', async () => {
    const { api, instance } = rig.tenant
    const { phone } = await contact(asleep, { custom: { place: 'Rome' } })
    const id = await template(asleep, 'Hi {{contact.firstName}}, {{custom.order}} is in {{custom.place}}')
    const body = { instanceId: instance.id, to: phone, templateId: id, variables: { order: 'No. 7' } }
    const { data } = (await api.post('messages/send', body)).body
    await until(async () => (await api.get(`messages/${data.id}`)).body.data.status === 'read')
    const { rows } = await sql(rig.databaseUrl).query('select body from sandbox_messages where reference = $1', [data.id])
    expect(rows).toEqual([{ body: 'Hi Ada, No. 7 is in Rome' }])
  })

  it('keeps its text after the template is changed and deleted', async () => {
    const id = await template(asleep, 'as it was')
    const { data } = (await asleep.api.post('messages/schedule', made(asleep, id, { scheduledAt: inAnHour() }))).body
    await asleep.api.put(`templates/${id}`, { body: 'changed' })
    await asleep.api.delete(`templates/${id}`)
    expect((await asleep.api.get(`messages/${data.id}`)).body.data.body).toBe('as it was')
    expectRefusal(await send(id), 404, 'NOT_FOUND', 'Template not found')
  })

  it('is replayed under its idempotency key with the original text', async () => {
    const id = await template(asleep, 'first')
    const body = made(asleep, id)
    const ask = () => asleep.api.post('messages/send', body, { 'idempotency-key': 'made once' })
    const first = await ask()
    await asleep.api.put(`templates/${id}`, { body: 'second' })
    expect((await ask()).body).toEqual(first.body)
  })

  it('gives the same result and error over GraphQL', async () => {
    const id = await template(asleep, 'Hi {{contact.name}}, {{custom.a}}')
    const { phone } = await contact(asleep)
    const document = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { type body contact { name } } }'
    const ask = async (variables: unknown) =>
      (await asleep.api.graphql(document, { input: { ...made(asleep, id, { to: phone }), variables } })).body
    expect((await ask({ a: 'x' })).data.sendMessage).toEqual({
      type: 'text',
      body: 'Hi Ada Lovelace, x',
      contact: { name: 'Ada Lovelace' },
    })
    expect((await ask(null)).errors[0]).toMatchObject({
      message: 'custom.a: has no value',
      extensions: { code: 'TEMPLATE_INVALID' },
    })
  })
})

describe('values', () => {
  const body = '{{contact.firstName}} {{custom.a}} {{custom.b}}'

  it('come from the contact given by id, and the message refers to that contact', async () => {
    const { id: contactId } = await contact(asleep, { custom: { a: '1', b: '2' } })
    const other = await contact(asleep, { name: 'Grace Hopper', custom: { a: '3' } })
    const { data } = (await send(await template(asleep, body), { contactId, to: other.phone })).body
    expect(data).toMatchObject({ body: 'Ada 1 2', contactId })
  })

  it("come from the contact with the recipient's number when no id is given", async () => {
    const { id: contactId, phone } = await contact(asleep, { custom: { a: '1', b: '2' } })
    const { data } = (await send(await template(asleep, body), { to: phone })).body
    expect(data).toMatchObject({ body: 'Ada 1 2', contactId })
  })

  it("come from the message's variables first, for each variable separately", async () => {
    const { phone } = await contact(asleep, { custom: { a: '1', b: '2' } })
    const { data } = (await send(await template(asleep, body), { to: phone, variables: { b: 'own', a: '' } })).body
    expect(data.body).toBe('Ada  own')
  })

  it("never come from another workspace's contact", async () => {
    const foreign = await contact(rig.stranger, { custom: { a: '1', b: '2' } })
    const id = await template(asleep, body)
    const missing = 'contact.firstName, custom.a, custom.b: have no value'
    expectRefusal(await send(id, { to: foreign.phone }), 400, 'TEMPLATE_INVALID', missing)
    for (const contactId of [foreign.id, nobody])
      expectRefusal(await send(id, { contactId }), 404, 'NOT_FOUND', 'Contact not found')
  })

  it('that are missing refuse the message by name, and nothing is stored or counted', async () => {
    const used = async () => (await asleep.api.get('usage')).body.data.messagesCount
    const before = await used()
    const { phone } = await contact(asleep, { name: 'Ada', custom: { a: '1' } })
    const id = await template(asleep, `${body} {{contact.lastName}} {{contact.email}}`)
    const missing = 'custom.b, contact.lastName, contact.email: have no value'
    expectRefusal(await send(id, { to: phone }), 400, 'TEMPLATE_INVALID', missing)
    const later = made(asleep, id, { to: phone, scheduledAt: inAnHour() })
    expectRefusal(await asleep.api.post('messages/schedule', later), 400, 'TEMPLATE_INVALID', missing)
    expect([await countOf(rig, 'messages', `"to" = '${phone}'`), await used()]).toEqual([0, before])
  })

  it('fall back to the default text of the template', async () => {
    const id = await template(asleep, 'Hi {{contact.firstName | default: "you"}}, {{custom.a | default: \'soon\'}}')
    expect((await send(id)).body.data.body).toBe('Hi you, soon')
  })

  it('that make the text too long or empty refuse the message', async () => {
    const long = { a: 'x'.repeat(1024) }
    const text = await template(asleep, '{{custom.a}}'.repeat(4))
    expect((await send(text, { variables: long })).status).toBe(201)
    const more = await template(asleep, `${'{{custom.a}}'.repeat(4)}!`)
    expectRefusal(
      await send(more, { variables: long }),
      400,
      'TEMPLATE_INVALID',
      'The rendered text has more than 4096 characters',
    )
    const caption = await template(asleep, '{{custom.a}}!', { type: 'image', mediaUrl: file })
    const words = 'The rendered text has more than 1024 characters'
    expectRefusal(await send(caption, { variables: long }), 400, 'TEMPLATE_INVALID', words)
    expectRefusal(
      await send(await template(asleep, '{{custom.a}}'), { variables: { a: '' } }),
      400,
      'TEMPLATE_INVALID',
      /is empty$/,
    )
  })
})

describe('a template that does not exist', () => {
  it('is refused with the same message, whether it belongs to another workspace or was never created', async () => {
    const foreign = await template(rig.stranger, 'x', {})
    for (const id of [foreign, nobody]) {
      expectRefusal(await send(id), 404, 'NOT_FOUND', 'Template not found')
      const later = made(asleep, id, { scheduledAt: inAnHour() })
      expectRefusal(await asleep.api.post('messages/schedule', later), 404, 'NOT_FOUND', 'Template not found')
    }
  })
})
