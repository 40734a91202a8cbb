// Templates that Meta approved: their mapping, and the messages and campaigns that go out as them through `cloud` alone.
import { beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { changeState } from '../../src/instances/state.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { createTemplate, expectRefusal, openRig, type Rig, template } from '../rest-compat/rig.ts'

const shipped = { name: 'order_shipped', language: 'en_US', parameters: ['contact.firstName', 'custom.order'] }
const body = 'Hi {{contact.firstName | default: "you"}}, {{custom.order}} left.'
const to = '+393331234567'
let rig: Rig
let app: App
let cloudId: string
let number = 1_000_000

beforeAll(async () => {
  rig = await openRig()
  app = await openApp(rig.databaseUrl)
  cloudId = await cloudInstance()
})

async function cloudInstance(): Promise<string> {
  const settings = { phoneNumberId: `${number++}`, businessAccountId: '2', accessToken: 'token', appSecret: 'secret' }
  const { status, body } = await rig.tenant.api.post('instances', { name: 'Cloud', provider: 'cloud', settings })
  expect(status).toBe(201)
  return body.data.id
}

async function storedTemplate(id: string) {
  return (await sql(rig.databaseUrl).query('select template from messages where id = $1', [id])).rows[0].template
}

describe('a template that Meta approved', () => {
  it('is mapped when it is created or changed, and unmapped by null', async () => {
    const { api } = rig.tenant
    const { name } = template()
    const created = await api.post('templates', { name, type: 'text', body, cloud: { ...shipped, nonsense: 1 } })
    expect([created.status, created.body.data.cloud]).toEqual([201, shipped])
    const { id } = created.body.data
    expect((await api.put(`templates/${id}`, { body: 'Hi {{custom.order}}' })).body.data.cloud).toEqual(shipped)
    const query = 'query ($id: ID!) { template(id: $id) { cloud { name language parameters } } }'
    expect((await api.graphql(query, { id })).body.data.template.cloud).toEqual(shipped)
    const other = { name: 'hello', language: 'fil' }
    expect((await api.put(`templates/${id}`, { cloud: other })).body.data.cloud).toEqual({ ...other, parameters: [] })
    expect((await api.put(`templates/${id}`, { cloud: null })).body.data.cloud).toBeNull()
    expect((await api.get(`templates/${id}`)).body.data.cloud).toBeNull()
  })

  it.each<[message: string, cloud: Record<string, unknown>]>([
    ['cloud.name: is required; cloud.language: is required', {}],
    ['cloud.name: must be lower-case letters, digits and _, at most 512', { ...shipped, name: 'Order shipped' }],
    ['cloud.language: must be a code such as en or en_US', { ...shipped, language: 'English' }],
    ...['order', 'contact.nick', 'custom.', '{{custom.a}}', 'custom.a | default: "x"'].map(
      (path): [string, Record<string, unknown>] => [
        'cloud.parameters.1: must be the name of a value, such as contact.firstName or custom.order',
        { ...shipped, parameters: ['custom.order', path] },
      ],
    ),
  ])('is refused as TEMPLATE_INVALID: %s, %j', async (message, cloud) => {
    const { api } = rig.tenant
    expectRefusal(await api.post('templates', template({ cloud })), 400, 'TEMPLATE_INVALID', message)
    const id = await createTemplate(rig.tenant)
    expectRefusal(await api.put(`templates/${id}`, { cloud }), 400, 'TEMPLATE_INVALID', message)
  })

  it('cannot be a type that Meta has no templates of', async () => {
    const audio = template({ type: 'audio', mediaUrl: 'https://files.example.com/a.mp3', cloud: shipped })
    expectRefusal(
      await rig.tenant.api.post('templates', audio),
      400,
      'TEMPLATE_INVALID',
      'cloud: cannot be given with type audio',
    )
  })

  it('has lists of names: other shapes are VALIDATION_ERROR', async () => {
    const refused = await rig.tenant.api.post('templates', template({ cloud: { ...shipped, parameters: 'custom.order' } }))
    expectRefusal(refused, 400, 'VALIDATION_ERROR', 'cloud.parameters: must be an array')
  })
})

describe('a message from a template that Meta approved', () => {
  let templateId: string

  beforeAll(async () => {
    templateId = await createTemplate(rig.tenant, { body, cloud: shipped })
  })

  it('is handed over as that template through cloud, with the values of its acceptance, and shows the text', async () => {
    await changeState(app, { instanceId: cloudId, status: 'connected', waNumber: '+393330000001' })
    const phone = '+393330000002'
    await rig.tenant.api.post('contacts', { name: 'Ada Lovelace', phone })
    const message = { instanceId: cloudId, to: phone, templateId, variables: { order: 'No. 7' } }
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
    const sent = await rig.tenant.api.post('messages/schedule', { ...message, scheduledAt: inAnHour })
    expect([sent.status, sent.body.data.body]).toEqual([201, 'Hi Ada, No. 7 left.'])
    expect(sent.body.data.warnings.join()).not.toContain('24-hour window')
    await rig.tenant.api.put(`templates/${templateId}`, { name: template().name })
    const { id } = sent.body.data
    await sql(rig.databaseUrl).query('update messages set "scheduledAt" = now(), "dueAt" = now() where id = $1', [id])
    const { claimed } = await claimMessages(app, [id])
    const { name, language } = shipped
    expect(claimed.map(({ outgoing }) => [outgoing.body, outgoing.template])).toEqual([
      ['Hi Ada, No. 7 left.', { name, language, parameters: ['Ada', 'No. 7'] }],
    ])
    await changeState(app, { instanceId: cloudId, status: 'disconnected' })
  })

  it('has the fallbacks of the text, and is refused without a value', async () => {
    const message = { instanceId: cloudId, to, templateId }
    const { body } = await rig.tenant.api.post('messages/send', { ...message, variables: { order: '8' } })
    expect(await storedTemplate(body.data.id)).toMatchObject({ parameters: ['you', '8'] })
    expectRefusal(await rig.tenant.api.post('messages/send', message), 400, 'TEMPLATE_INVALID', 'custom.order: has no value')
    const more = await createTemplate(rig.tenant, {
      body: 'Hi',
      cloud: { ...shipped, parameters: ['custom.a', 'contact.email'] },
    })
    const empty = { ...message, templateId: more, variables: { a: '' } }
    const refused = await rig.tenant.api.post('messages/send', empty)
    expectRefusal(refused, 400, 'TEMPLATE_INVALID', 'custom.a, contact.email: have no value')
  })

  it('goes out as text through other networks', async () => {
    const plain = await createTemplate(rig.tenant, { body: 'Hi', cloud: { ...shipped, parameters: ['custom.a'] } })
    const message = { instanceId: rig.tenant.instance.id, to, templateId: plain }
    const { status, body } = await rig.tenant.api.post('messages/send', message)
    expect([status, body.data.body, await storedTemplate(body.data.id)]).toEqual([201, 'Hi', null])
  })

  it('is told apart in a bulk, and fails the recipients of a campaign that lack a value', async () => {
    const { api } = rig.tenant
    const message = { to, templateId, variables: { order: '9' } }
    const messages = [cloudId, rig.tenant.instance.id].map((instanceId) => ({ ...message, instanceId }))
    const { accepted } = (await api.post('messages/bulk', { messages })).body.data
    const stored = await Promise.all(accepted.map(({ id }: { id: string }) => storedTemplate(id)))
    const { name, language } = shipped
    expect(stored).toEqual([{ name, language, parameters: ['you', '9'] }, null])

    const recipients = [{ to: '+393330000011', variables: { order: '10' } }, { to: '+393330000012' }]
    const campaign = { instanceId: cloudId, name: 'News', templateId, recipients }
    const { id } = (await api.post('campaigns', campaign)).body.data
    const read = `select r.status, r.error, m.template from campaign_recipients r left join messages m on m.id = r."messageId"
      where r."campaignId" = $1 order by position`
    const rows = await until(async () => {
      const { rows } = await sql(rig.databaseUrl).query(read, [id])
      return rows[0].status === 'enqueued' && rows
    })
    expect(rows).toEqual([
      { status: 'enqueued', error: null, template: { name, language, parameters: ['you', '10'] } },
      { status: 'failed', error: 'TEMPLATE_INVALID', template: null },
    ])
  })
})
