// Messages made of templates: where values come from, what is refused by name, and that nobody's fault is another's.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, connectedInstance, sql, until } from '../kit/kit.ts'
import { expectRefusal, messageRecord, newNumber, nobody, openRig, type Rig, type Tenant } from '../rest-compat/rig.ts'

let rig: Rig
/** Its messages stay queued. */
let asleep: Tenant
const file = 'https://files.example.com/a.bin'

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
})

let last = 0
async function template(body: string, fields: Record<string, unknown> = {}, tenant = asleep): Promise<string> {
  const answer = await tenant.api.post('templates', { name: `Template ${++last}`, type: 'text', body, ...fields })
  expect(answer.status).toBe(201)
  return answer.body.data.id
}

async function contact(fields: Record<string, unknown> = {}, tenant = asleep): Promise<{ id: string; phone: string }> {
  const answer = await tenant.api.post('contacts', { name: 'Ada Lovelace', phone: newNumber(), ...fields })
  expect(answer.status).toBe(201)
  return answer.body.data
}

/** A message made of a template, with what differs. */
function made(templateId: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { instanceId: asleep.instance.id, to: newNumber(), templateId, ...fields }
}

function send(templateId: string, fields: Record<string, unknown> = {}): Promise<Answer> {
  return asleep.api.post('messages/send', made(templateId, fields))
}

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}

describe('a message made of a template', () => {
  it.each<[type: string, body: string, record: Record<string, unknown>]>([
    ['text', 'No. {{custom.order}}', { body: 'No. 7' }],
    ['image', 'No. {{custom.order}}', { body: 'No. 7', mediaUrl: file }],
    ['video', '', { body: '', mediaUrl: file }],
    ['audio', 'No. {{custom.nothing}}', { body: '', mediaUrl: file }],
    ['document', 'No. {{ custom.order }}', { body: 'No. 7', mediaUrl: file }],
  ])('is of its type: %s', async (type, body, record) => {
    const id = await template(body, { type, mediaUrl: type === 'text' ? null : file })
    const answer = await send(id, { variables: { order: '7', more: 'ignored' }, text: 'ignored', mediaUrl: 'ignored' })
    expect({ status: answer.status, body: answer.body }).toStrictEqual({
      status: 201,
      body: { data: messageRecord(asleep, { type, ...record }) },
    })
  })

  it('arrives as it was filled in', async () => {
    const { api, instance } = rig.tenant
    const { phone } = await contact({ custom: { place: 'Rome' } })
    const id = await template('Hi {{contact.firstName}}, {{custom.order}} is in {{custom.place}}')
    const body = { instanceId: instance.id, to: phone, templateId: id, variables: { order: 'No. 7' } }
    const { data } = (await api.post('messages/send', body)).body
    await until(async () => (await api.get(`messages/${data.id}`)).body.data.status === 'read')
    const { rows } = await sql(rig.databaseUrl).query('select body from sandbox_messages where reference = $1', [data.id])
    expect(rows).toEqual([{ body: 'Hi Ada, No. 7 is in Rome' }])
  })

  it('keeps its text, whatever becomes of the template', async () => {
    const id = await template('as it was')
    const { data } = (await asleep.api.post('messages/schedule', made(id, { scheduledAt: inAnHour() }))).body
    await asleep.api.put(`templates/${id}`, { body: 'changed' })
    await asleep.api.delete(`templates/${id}`)
    expect((await asleep.api.get(`messages/${data.id}`)).body.data.body).toBe('as it was')
    expectRefusal(await send(id), 404, 'NOT_FOUND', 'Template not found')
  })

  it('is answered again under its key, as it was then', async () => {
    const id = await template('first')
    const body = made(id)
    const ask = () => asleep.api.post('messages/send', body, { 'idempotency-key': 'made once' })
    const first = await ask()
    await asleep.api.put(`templates/${id}`, { body: 'second' })
    expect((await ask()).body).toEqual(first.body)
  })

  it('says the same through the graph', async () => {
    const id = await template('Hi {{contact.name}}, {{custom.a}}')
    const { phone } = await contact()
    const document = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { type body contact { name } } }'
    const ask = async (variables: unknown) =>
      (await asleep.api.graphql(document, { input: { ...made(id, { to: phone }), variables } })).body
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

  it('come from the contact that is named, and the message is about it', async () => {
    const { id: contactId } = await contact({ custom: { a: '1', b: '2' } })
    const other = await contact({ name: 'Grace Hopper', custom: { a: '3' } })
    const { data } = (await send(await template(body), { contactId, to: other.phone })).body
    expect(data).toMatchObject({ body: 'Ada 1 2', contactId })
  })

  it('come from the contact of the number where none is named', async () => {
    const { id: contactId, phone } = await contact({ custom: { a: '1', b: '2' } })
    const { data } = (await send(await template(body), { to: phone })).body
    expect(data).toMatchObject({ body: 'Ada 1 2', contactId })
  })

  it('come from what the message says first, each by itself', async () => {
    const { phone } = await contact({ custom: { a: '1', b: '2' } })
    const { data } = (await send(await template(body), { to: phone, variables: { b: 'own', a: '' } })).body
    expect(data.body).toBe('Ada  own')
  })

  it("never come from another workspace's contact", async () => {
    const foreign = await contact({ custom: { a: '1', b: '2' } }, rig.stranger)
    const id = await template(body)
    const missing = 'contact.firstName, custom.a, custom.b: have no value'
    expectRefusal(await send(id, { to: foreign.phone }), 400, 'TEMPLATE_INVALID', missing)
    for (const contactId of [foreign.id, nobody])
      expectRefusal(await send(id, { contactId }), 404, 'NOT_FOUND', 'Contact not found')
  })

  it('that are missing refuse the message by name, and nothing is stored or counted', async () => {
    const used = async () => (await asleep.api.get('usage')).body.data.messagesCount
    const before = await used()
    const { phone } = await contact({ name: 'Ada', custom: { a: '1' } })
    const id = await template(`${body} {{contact.lastName}} {{contact.email}}`)
    const missing = 'custom.b, contact.lastName, contact.email: have no value'
    expectRefusal(await send(id, { to: phone }), 400, 'TEMPLATE_INVALID', missing)
    const later = made(id, { to: phone, scheduledAt: inAnHour() })
    expectRefusal(await asleep.api.post('messages/schedule', later), 400, 'TEMPLATE_INVALID', missing)
    const { rows } = await sql(rig.databaseUrl).query('select 1 from messages where "to" = $1', [phone])
    expect([rows.length, await used()]).toEqual([0, before])
  })

  it('have a text to stand in, where the template gives one', async () => {
    const id = await template('Hi {{contact.firstName | default: "you"}}, {{custom.a | default: \'soon\'}}')
    expect((await send(id)).body.data.body).toBe('Hi you, soon')
  })

  it('that make the text too long refuse the message', async () => {
    const long = { a: 'x'.repeat(1024) }
    const text = await template('{{custom.a}}'.repeat(4))
    expect((await send(text, { variables: long })).status).toBe(201)
    const more = await template(`${'{{custom.a}}'.repeat(4)}!`)
    expectRefusal(
      await send(more, { variables: long }),
      400,
      'TEMPLATE_INVALID',
      'The rendered text has more than 4096 characters',
    )
    const caption = await template('{{custom.a}}!', { type: 'image', mediaUrl: file })
    const words = 'The rendered text has more than 1024 characters'
    expectRefusal(await send(caption, { variables: long }), 400, 'TEMPLATE_INVALID', words)
    expectRefusal(await send(await template('{{custom.a}}'), { variables: { a: '' } }), 400, 'TEMPLATE_INVALID', /is empty$/)
  })
})

describe('a template that is not there', () => {
  it("is refused in the same words, be it another workspace's, deleted or made up", async () => {
    const foreign = await template('x', {}, rig.stranger)
    for (const id of [foreign, nobody]) {
      expectRefusal(await send(id), 404, 'NOT_FOUND', 'Template not found')
      const later = made(id, { scheduledAt: inAnHour() })
      expectRefusal(await asleep.api.post('messages/schedule', later), 404, 'NOT_FOUND', 'Template not found')
    }
  })
})

describe('neighbours', () => {
  it('in a bulk are judged each alone', async () => {
    const id = await template('Hi {{contact.firstName}} {{custom.a}}')
    const { id: contactId, phone } = await contact({ custom: { a: '1' } })
    const plain = { instanceId: asleep.instance.id, to: newNumber(), type: 'text', text: 'Hello' }
    const messages = [
      made(id, { contactId }),
      made(id),
      made(nobody),
      plain,
      made(id, { to: phone, variables: { a: '2' }, scheduledAt: inAnHour() }),
      made(id, { contactId, variables: { a: '\0' } }),
      { ...plain, templateId: id },
    ]
    const { data } = (await asleep.api.post('messages/bulk', { messages })).body
    expect(data.rejected).toEqual([
      { index: 1, code: 'TEMPLATE_INVALID', message: 'contact.firstName, custom.a: have no value' },
      { index: 2, code: 'NOT_FOUND', message: 'Template not found' },
      { index: 5, code: 'VALIDATION_ERROR', message: 'variables.a: must not contain NUL or unpaired surrogates' },
      { index: 6, code: 'VALIDATION_ERROR', message: 'templateId: cannot be given together with type' },
    ])
    const bodies = data.accepted.map(async ({ index, id }: { index: number; id: string }) => [
      index,
      (await asleep.api.get(`messages/${id}`)).body.data.body,
    ])
    expect(await Promise.all(bodies)).toEqual([
      [0, 'Hi Ada 1'],
      [3, 'Hello'],
      [4, 'Hi Ada 2'],
    ])
  })

  it('that come at once are judged each alone, whosever they are', async () => {
    const { account, api } = rig.stranger
    const foreign = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
    const ids = [await template('ours {{custom.a}}'), await template('theirs {{contact.name}}', {}, foreign)] as const
    const { phone } = await contact({ name: 'Ours' })
    await contact({ name: 'Theirs', phone }, foreign)
    const body = (i: number) => {
      const common = { to: phone, variables: i % 4 === 0 ? {} : { a: `${i}` } }
      return i % 2 === 0
        ? { ...common, instanceId: asleep.instance.id, templateId: ids[0] }
        : { ...common, instanceId: foreign.instance.id, templateId: ids[1] }
    }
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? asleep : foreign).api.post('messages/send', body(i))),
    )
    for (const [i, answer] of answers.entries()) {
      if (i % 4 === 0) expectRefusal(answer, 400, 'TEMPLATE_INVALID', 'custom.a: has no value')
      else expect(answer.body.data.body).toBe(i % 2 === 0 ? `ours ${i}` : 'theirs Theirs')
    }
  })

  it('are not refused because a contact is deleted at that moment', async () => {
    const { id: contactId } = await contact()
    const id = await template('Hi {{contact.name}}')
    const client = await sql(rig.databaseUrl).connect()
    try {
      await client.query('begin')
      await client.query('delete from contacts where id = $1', [contactId])
      const pending = asleep.api.post('messages/bulk', { messages: [made(id, { contactId }), made(await template('plain'))] })
      const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%from contacts%'`
      await until(async () => (await sql(rig.databaseUrl).query(waiting)).rows.length > 0)
      await client.query('commit')
      const { data } = (await pending).body
      expect(data.rejected).toEqual([{ index: 0, code: 'NOT_FOUND', message: 'Contact not found' }])
      expect(data.accepted).toHaveLength(1)
    } finally {
      client.release()
    }
  })
})
