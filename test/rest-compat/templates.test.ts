// REST routes of templates: their records, rules and refusals. Rendering is tested in test/templates.
import { beforeAll, describe, expect, it } from 'vitest'
import { templateTypes } from '../../src/message-types/service.ts'
import { sql } from '../kit/database.ts'
import { createTemplate, expectRefusal, moment, newTenant, nobody, openRig, type Rig, template, uuid } from './rig.ts'

let rig: Rig
const file = 'https://files.example.com/a.bin'

beforeAll(async () => {
  rig = await openRig()
})

function templateRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: uuid,
    name: 'Welcome',
    type: 'text',
    body: 'Hi',
    mediaUrl: null,
    cloud: null,
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  }
}

describe('a template', () => {
  it('is created, read, changed, listed and deleted', async () => {
    const { api } = await newTenant(rig.gateway, rig.databaseUrl)
    const body = 'Hi {{contact.firstName}}, {{custom.order | default: "soon"}}'
    const created = await api.post('templates', { name: 'Welcome', type: 'text', body, id: nobody, userId: nobody, nonsense: 1 })
    expect({ status: created.status, body: created.body }).toStrictEqual({
      status: 201,
      body: { data: templateRecord({ body }) },
    })
    const { id, createdAt } = created.body.data
    expect((await api.get(`templates/${id}`)).body).toStrictEqual({ data: created.body.data })
    const second = (await api.post('templates', template())).body.data
    expect((await api.get('templates')).body).toStrictEqual({ data: [created.body.data, second] })
    const changed = await api.put(`templates/${id}`, { name: 'Hello', type: 'image', mediaUrl: file })
    const record = templateRecord({ id, name: 'Hello', type: 'image', body, mediaUrl: file, createdAt })
    expect({ status: changed.status, body: changed.body }).toStrictEqual({ status: 200, body: { data: record } })
    const gone = await api.delete(`templates/${id}`)
    expect({ status: gone.status, body: gone.body }).toStrictEqual({ status: 200, body: { data: { id, deleted: true } } })
    expect((await api.get('templates')).body).toStrictEqual({ data: [second] })
    for (const refused of [
      await api.get(`templates/${id}`),
      await api.put(`templates/${id}`, { name: 'x' }),
      await api.delete(`templates/${id}`),
      await api.post(`templates/${id}/preview`),
    ]) {
      expectRefusal(refused, 404, 'NOT_FOUND', 'Template not found')
    }
  })

  it.each<[name: string, fields: Record<string, unknown>, record: Record<string, unknown>]>([
    ['text', { type: 'text', body: 'x' }, { body: 'x', mediaUrl: null }],
    ['text of 4096 emoji', { type: 'text', body: '👍'.repeat(4096) }, { body: '👍'.repeat(4096), mediaUrl: null }],
    ['image', { type: 'image', body: 'Look', mediaUrl: file }, { body: 'Look', mediaUrl: file }],
    ['image without caption', { type: 'image', mediaUrl: file, body: undefined }, { body: '', mediaUrl: file }],
    ['video', { type: 'video', body: 'Look, {{contact.name}}', mediaUrl: file }, { mediaUrl: file }],
    ['audio', { type: 'audio', body: '', mediaUrl: file }, { body: '', mediaUrl: file }],
    ['document', { type: 'document', body: null, mediaUrl: file }, { body: '', mediaUrl: file }],
    ['name of 200', { name: 'x'.repeat(200) }, { name: 'x'.repeat(200) }],
  ])('is accepted: %s', async (_, fields, record) => {
    const { status, body } = await rig.tenant.api.post('templates', template(fields))
    expect(status).toBe(201)
    expect(body.data).toMatchObject({ ...fields, ...record })
  })

  it.each<[message: string | RegExp, fields: Record<string, unknown>]>([
    ['name: is required; type: is required', { name: undefined, type: undefined }],
    ['name: must not be empty; body: is required', { name: '', body: '' }],
    ['name: must have at most 200 characters', { name: 'x'.repeat(201) }],
    ['name: must not be null', { name: null }],
    ['name: must be a string', { name: 7 }],
    [`type: must be one of ${templateTypes.join(', ')}`, { type: 'voice_note', mediaUrl: file }],
    [`type: must be one of ${templateTypes.join(', ')}`, { type: 'location' }],
    ['body: is required', { body: undefined }],
    ['body: is required', { body: null }],
    ['body: must have at most 4096 characters', { body: 'x'.repeat(4097) }],
    ['body: must have at most 4096 characters', { body: '{{custom.a}}'.repeat(10_000) }],
    ['body: must not contain NUL or unpaired surrogates', { body: 'a\0' }],
    [/^body: must be a string/, { body: ['x'] }],
    ['mediaUrl: cannot be given with type text', { type: 'text', body: 'x', mediaUrl: file }],
    ['mediaUrl: must be an absolute http(s) URL', { type: 'image', mediaUrl: 'x' }],
    ['mediaUrl: must be an absolute http(s) URL', { type: 'image', mediaUrl: '' }],
    [
      'mediaUrl: must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
      { type: 'image', mediaUrl: 'http://169.254.169.254/' },
    ],
    [/^mediaUrl: must have at most 2048 characters/, { type: 'image', mediaUrl: `https://e.example/${'a'.repeat(2048)}` }],
  ])('is refused: %s', async (message, fields) => {
    expectRefusal(await rig.tenant.api.post('templates', template(fields)), 400, 'VALIDATION_ERROR', message)
  })

  it.each<[message: RegExp, fields: Record<string, unknown>]>([
    [/^mediaUrl: is required for type image$/, { type: 'image' }],
    [/^mediaUrl: is required for type audio$/, { type: 'audio', mediaUrl: null }],
    [/^body: .*a contact has name, firstName, lastName, phone, email$/, { body: '{{contact.nick}}' }],
    [/^body: {{order}} is not {{contact/, { body: '{{order}}' }],
    [/^body: .*not closed/, { body: 'Hi {{contact.name' }],
    [/^body: }} has no {{ before it$/, { body: 'Hi name}}' }],
    [/^body: /, { body: '{{contact.name | shout}}' }],
    [/^body: .*is a tag/, { body: '{% if contact.name %}x{% endif %}' }],
    [/^body: has more than 1024 characters without its placeholders$/, { type: 'image', mediaUrl: file, body: 'x'.repeat(1025) }],
  ])('is refused as TEMPLATE_INVALID, when created and when changed: %s', async (message, fields) => {
    expectRefusal(await rig.tenant.api.post('templates', template(fields)), 400, 'TEMPLATE_INVALID', message)
    const id = await createTemplate(rig.tenant)
    const before = (await rig.tenant.api.get(`templates/${id}`)).body
    expectRefusal(await rig.tenant.api.put(`templates/${id}`, fields), 400, 'TEMPLATE_INVALID', message)
    expect((await rig.tenant.api.get(`templates/${id}`)).body).toEqual(before)
  })

  it('has a unique name in its workspace, also under concurrent requests', async () => {
    const body = template()
    const taken = 'Another template of the workspace has this name'
    const race = await Promise.all(Array.from({ length: 20 }, () => rig.tenant.api.post('templates', body)))
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    for (const refused of race.filter(({ status }) => status === 409)) expectRefusal(refused, 409, 'CONFLICT', taken)
    const ids = await Promise.all([createTemplate(rig.tenant), createTemplate(rig.tenant)])
    const name = template().name
    const renamed = await Promise.all(ids.map((id) => rig.tenant.api.put(`templates/${id}`, { name })))
    expect(renamed.map(({ status }) => status).sort()).toEqual([200, 409])
    const id = await createTemplate(rig.stranger, body)
    expect((await rig.stranger.api.put(`templates/${id}`, { name: body.name })).status).toBe(200)
  })

  it('is created once under one Idempotency-Key', async () => {
    const body = template()
    const headers = { 'idempotency-key': 'one' }
    const [first, again] = [
      await rig.tenant.api.post('templates', body, headers),
      await rig.tenant.api.post('templates', body, headers),
    ]
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expectRefusal(await rig.tenant.api.post('templates', template(), headers), 422, 'IDEMPOTENCY_KEY_REUSED')
  })

  it('needs an active subscription to be created, but not to be listed, changed, previewed or deleted', async () => {
    const idle = await newTenant(rig.gateway, rig.databaseUrl)
    const id = await createTemplate(idle)
    await sql(rig.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [idle.account.userId])
    expectRefusal(await idle.api.post('templates', {}), 403, 'SUBSCRIPTION_INACTIVE')
    for (const { status } of [
      await idle.api.get('templates'),
      await idle.api.put(`templates/${id}`, { name: 'Changed' }),
      await idle.api.post(`templates/${id}/preview`),
      await idle.api.delete(`templates/${id}`),
    ]) {
      expect(status).toBe(200)
    }
  })

  it('is refused beyond 1,000 templates in a workspace, also for several at once', async () => {
    const many = await newTenant(rig.gateway, rig.databaseUrl)
    await sql(rig.databaseUrl).query(
      `insert into templates (id, "workspaceId", name, type, body) select gen_random_uuid(), $1, n::text, 'text', 'x' from generate_series(1, 999) n`,
      [many.account.workspaceId],
    )
    const raced = await Promise.all(Array.from({ length: 5 }, () => many.api.post('templates', template())))
    expect(raced.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    expectRefusal(await many.api.post('templates', template()), 409, 'INVALID_STATE', 'A workspace has at most 1000 templates')
    expect((await many.api.get('templates')).body.data).toHaveLength(1000)
  })
})

describe('changing a template', () => {
  it('keeps the fields that are left out and clears those that are null', async () => {
    const { api } = rig.tenant
    const id = await createTemplate(rig.tenant, { type: 'image', mediaUrl: file, body: 'Look' })
    expect((await api.put(`templates/${id}`, { body: '' })).body.data).toMatchObject({ type: 'image', mediaUrl: file, body: '' })
    expectRefusal(
      await api.put(`templates/${id}`, { mediaUrl: null }),
      400,
      'TEMPLATE_INVALID',
      'mediaUrl: is required for type image',
    )
    expectRefusal(await api.put(`templates/${id}`, { type: 'text' }), 400, 'VALIDATION_ERROR', 'body: is required')
    const plain = { type: 'text', body: 'Hi', mediaUrl: null }
    expect((await api.put(`templates/${id}`, plain)).body.data).toMatchObject(plain)
  })

  it.each<[fields: Record<string, unknown>, message: string]>([
    [{}, 'body: must change name, type, body, mediaUrl or cloud'],
    [{ nonsense: 1 }, 'body: must change name, type, body, mediaUrl or cloud'],
    [{ name: null }, 'name: must not be null'],
    [{ type: null, body: null }, 'type: must be one of text, image, video, audio, document; body: must not be null'],
    [{ name: '' }, 'name: must not be empty'],
    [{ mediaUrl: 'file:///etc/passwd' }, 'mediaUrl: must be an absolute http(s) URL'],
  ])('refuses %j', async (fields, message) => {
    const id = await createTemplate(rig.tenant)
    expectRefusal(await rig.tenant.api.put(`templates/${id}`, fields), 400, 'VALIDATION_ERROR', message)
  })
})
