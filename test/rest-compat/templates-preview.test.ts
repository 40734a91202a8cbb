// REST route of a template preview: the rendered text, the missing values, and the refusals.
import { beforeAll, describe, expect, it } from 'vitest'
import { createTemplate, expectRefusal, nobody, openRig, type Rig } from './rig.ts'

let rig: Rig
const file = 'https://files.example.com/a.bin'

beforeAll(async () => {
  rig = await openRig()
})

describe('a preview', () => {
  const body = 'Hi {{contact.firstName}} {{contact.lastName}}, {{custom.order}} {{ custom.place }}'

  it('renders the known values and lists the missing ones', async () => {
    const { api } = rig.tenant
    const id = await createTemplate(rig.tenant, { body })
    const bare = await api.post(`templates/${id}/preview`)
    const missing = ['contact.firstName', 'contact.lastName', 'custom.order', 'custom.place']
    expect({ status: bare.status, body: bare.body }).toStrictEqual({
      status: 200,
      body: { data: { type: 'text', body, mediaUrl: null, missing } },
    })
    const contact = { name: 'Ada', phone: '+393331234567', custom: { order: '1', place: 'Rome' } }
    const contactId = (await api.post('contacts', contact)).body.data.id
    const known = await api.post(`templates/${id}/preview`, { contactId, variables: { order: '7' } })
    expect(known.body.data).toEqual({
      type: 'text',
      body: 'Hi Ada {{contact.lastName}}, 7 Rome',
      mediaUrl: null,
      missing: ['contact.lastName'],
    })
  })

  it('has no text for an audio template', async () => {
    const id = await createTemplate(rig.tenant, { type: 'audio', mediaUrl: file, body })
    const { data } = (await rig.tenant.api.post(`templates/${id}/preview`, {})).body
    expect(data).toEqual({ type: 'audio', body: '', mediaUrl: file, missing: [] })
  })

  it('refuses invalid input with a message that names the field', async () => {
    const { api } = rig.tenant
    const id = await createTemplate(rig.tenant, { body })
    const preview = (fields: unknown) => api.post(`templates/${id}/preview`, fields)
    const foreign = (await rig.stranger.api.post('contacts', { name: 'x', phone: '+393331234567' })).body.data.id
    for (const contactId of [nobody, foreign]) expectRefusal(await preview({ contactId }), 404, 'NOT_FOUND', 'Contact not found')
    expectRefusal(await preview({ contactId: '5' }), 400, 'VALIDATION_ERROR', 'contactId: must be a UUID')
    expectRefusal(
      await preview({ contactId: '5', variables: { order: ['7'], place: 'x'.repeat(1025) } }),
      400,
      'VALIDATION_ERROR',
      'contactId: must be a UUID; variables.order: must be a string, a number, true or false; variables.place: must have at most 1024 characters',
    )
    expectRefusal(await preview({ variables: 'x' }), 400, 'VALIDATION_ERROR', 'variables: must be an object')
    for (const value of ['\0', '\ud800']) {
      expectRefusal(
        await preview({ variables: { order: value } }),
        400,
        'VALIDATION_ERROR',
        /^variables\.order: must not contain/,
      )
      expectRefusal(await preview({ variables: { [value]: 'x' } }), 400, 'VALIDATION_ERROR', /^variables: must not contain/)
    }
  })

  it('refuses a rendered text that is too long', async () => {
    const id = await createTemplate(rig.tenant, { body: '{{custom.a}}'.repeat(5) })
    const answer = await rig.tenant.api.post(`templates/${id}/preview`, { variables: { a: 'x'.repeat(1024) } })
    expectRefusal(answer, 400, 'TEMPLATE_INVALID', 'The rendered text has more than 4096 characters')
  })

  it('gets the same answer again under its Idempotency-Key, whatever changed since', async () => {
    const id = await createTemplate(rig.tenant, { body: 'before' })
    const preview = () => rig.tenant.api.post(`templates/${id}/preview`, {}, { 'idempotency-key': 'preview' })
    const first = await preview()
    await rig.tenant.api.put(`templates/${id}`, { body: 'after' })
    const again = await preview()
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true'])
  })
})
