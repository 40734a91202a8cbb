// Templates that Meta approved: their import over all pages, and messages from them as Meta takes them.
import { beforeAll, expect, it } from 'vitest'
import { until } from '../kit/until.ts'
import { fresh, openRig, type Phone, type Rig } from './rig.ts'

const body = (text: string) => ({ type: 'BODY', text })
let rig: Rig
let phone: Phone

beforeAll(async () => {
  rig = await openRig()
  phone = await rig.phone()
})

interface Shown {
  parameters?: number
  names?: string[]
  format?: string
  status?: string
  language?: string
}

function approve(
  name: string,
  components: object[],
  { parameters = 0, names, format, status, language = 'en' }: Shown = {},
): void {
  const listed = { components, ...(format && { parameter_format: format }), ...(status && { status }) }
  rig.standIn.approve(phone.number, { name, language, parameters, ...(names && { names }), listed })
}

const importAll = () => rig.api.post('templates/import', { instanceId: phone.id })

async function stored(): Promise<Record<string, unknown>> {
  const { body } = await rig.api.get('templates')
  return Object.fromEntries(
    body.data.map((row: { name: string; body: string; cloud: unknown }) => [row.name, [row.body, row.cloud]]),
  )
}

it('imports every approved template that a template of ours can stand for, and says why it leaves others out', async () => {
  await rig.api.post('templates', { name: 'by_hand', type: 'text', body: 'Mine' })
  approve(
    'shipped',
    [{ type: 'HEADER', format: 'TEXT', text: 'Shop' }, body('Hi {{1}}, no. {{2}} left. {{1}}!'), { type: 'FOOTER', text: 'Bye' }],
    { parameters: 2 },
  )
  approve('shipped', [body('Ciao {{2}} {{1}}')], { language: 'it', parameters: 2 })
  approve('named', [body('Hi {{customer}}, {{order_no}}')], { format: 'NAMED', names: ['customer', 'order_no'], parameters: 2 })
  approve('plain', [
    body('Hello'),
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'URL', url: 'https://shop.example/' },
        { type: 'QUICK_REPLY', text: 'Stop' },
      ],
    },
  ])
  approve('by_hand', [body('Theirs')])
  approve('picture', [{ type: 'HEADER', format: 'IMAGE' }, body('Look')])
  approve('titled', [{ type: 'HEADER', format: 'TEXT', text: 'Hi {{1}}' }, body('Look')])
  approve('tracked', [body('Look'), { type: 'BUTTONS', buttons: [{ type: 'URL', url: 'https://shop.example/{{1}}' }] }])
  approve('code', [body('{{1}} is your code.'), { type: 'BUTTONS', buttons: [{ type: 'OTP' }] }])
  approve('cards', [body('Look'), { type: 'CAROUSEL', cards: [] }])
  approve('strange', [body('{% if %} {{ 1')])
  approve('rejected', [body('No')], { status: 'REJECTED' })
  for (let i = 0; i < 110; i++) approve(`many_${i}`, [body(`No. ${i}`)])
  // Meta approved another template while the pages were read, which moved this one from the first page to the last one.
  approve('many_5', [body('No. 5')])

  const { status, body: answer } = await importAll()
  expect([status, answer.data.created, answer.data.updated]).toEqual([200, 114, 0])
  const byHand = 'a template of this name was made by hand'
  expect(answer.data.skipped).toEqual([
    { name: 'by_hand', reason: byHand },
    { name: 'picture', reason: 'its header is an image: make a template with this file by hand' },
    { name: 'titled', reason: 'its header has a value' },
    { name: 'tracked', reason: 'a button has a value' },
    { name: 'code', reason: 'it has a button of the type OTP' },
    { name: 'cards', reason: 'it has a part of the type CAROUSEL' },
    { name: 'strange', reason: expect.stringMatching(/^body: /) },
  ])
  const made = await stored()
  const numbered = (name: string, language: string) => ({ name, language, parameters: ['custom.1', 'custom.2'] })
  expect(made).toMatchObject({
    shipped: ['Hi {{custom.1}}, no. {{custom.2}} left. {{custom.1}}!', numbered('shipped', 'en')],
    'shipped (it)': ['Ciao {{custom.2}} {{custom.1}}', numbered('shipped', 'it')],
    named: ['Hi {{custom.customer}}, {{custom.order_no}}', { name: 'named', parameters: ['custom.customer', 'custom.order_no'] }],
    plain: ['Hello', { name: 'plain', language: 'en', parameters: [] }],
    by_hand: ['Mine', null],
    many_109: ['No. 109', { name: 'many_109' }],
  })
  for (const name of ['rejected', 'many_5 (en)']) expect(Object.keys(made)).not.toContain(name)
  expect(rig.standIn.count(/message_templates/)).toBe(3)
})

it('counts as updated what it meets again, also under another name, and changes no template made by hand', async () => {
  const { body: all } = await rig.api.get('templates')
  const { id } = all.data.find((row: { name: string }) => row.name === 'plain')
  await rig.api.put(`templates/${id}`, { name: 'Our plain one', body: 'Changed' })
  phone.number.templates = phone.number.templates.filter(({ name }) => !name.startsWith('many_'))
  const again = await rig.api.graphql(
    'mutation ($id: ID!) { importCloudTemplates(instanceId: $id) { created updated skipped { name } } }',
    { id: phone.id },
  )
  expect(again.body.data.importCloudTemplates).toMatchObject({ created: 0, updated: 4 })
  expect(await stored()).toMatchObject({ 'Our plain one': ['Hello', { name: 'plain' }], by_hand: ['Mine', null] })
})

it('sends an imported template as Meta takes it, with its values by position or by name', async () => {
  const { body: all } = await rig.api.get('templates')
  const idOf = (name: string) => all.data.find((row: { name: string }) => row.name === name).id
  const sent = async (name: string, variables: Record<string, string>) => {
    const id = await rig.send(phone.id, { templateId: idOf(name), variables })
    expect(await rig.settled(id)).toMatchObject({ status: 'sending', error: null })
    return rig.standIn.messages.find((message) => message.biz_opaque_callback_data === id)?.template
  }
  const bodyWith = (...parameters: object[]) => [{ type: 'body', parameters }]
  expect(await sent('shipped (it)', { 1: 'Ada', 2: '7' })).toEqual({
    name: 'shipped',
    language: { code: 'it' },
    components: bodyWith({ type: 'text', text: 'Ada' }, { type: 'text', text: '7' }),
  })
  expect(await sent('named', { customer: 'Ada', order_no: '8' })).toMatchObject({
    components: bodyWith(
      { type: 'text', parameter_name: 'customer', text: 'Ada' },
      { type: 'text', parameter_name: 'order_no', text: '8' },
    ),
  })
})

it('sends a campaign from a template of ours, with its picture as the header', async () => {
  const mediaUrl = 'https://files.example.com/a.png'
  rig.standIn.approve(phone.number, { name: 'news', language: 'en_US', parameters: 1, header: 'image' })
  const cloud = { name: 'news', language: 'en_US', parameters: ['custom.day'] }
  const template = { name: 'News', type: 'image', body: 'On {{custom.day}}', mediaUrl, cloud }
  const { body: made } = await rig.api.post('templates', template)
  const to = fresh()
  const recipients = [{ to, variables: { day: 'Monday' } }]
  await rig.api.post('campaigns', { instanceId: phone.id, name: 'News', templateId: made.data.id, recipients })
  const message = await until(() => rig.standIn.messages.find((taken) => taken.to === to.slice(1)))
  expect(message.template).toMatchObject({
    name: 'news',
    components: [
      { type: 'header', parameters: [{ type: 'image', image: { link: mediaUrl } }] },
      { type: 'body', parameters: [{ type: 'text', text: 'Monday' }] },
    ],
  })
})

it('says in words why an import failed, without the token, and changes nothing', async () => {
  const before = await stored()
  rig.standIn.addFault({
    on: /message_templates/,
    effect: { code: 190, status: 401, details: `bad ${phone.number.accessToken}` },
  })
  const refused = await importAll()
  expect([refused.status, refused.body.error.code]).toEqual([502, 'PROVIDER_ERROR'])
  expect(refused.body.error.message).toContain('190')
  expect(JSON.stringify(refused.body)).not.toContain(phone.number.accessToken)
  // The token is refused for everything, so nothing can be sent with it.
  expect(await rig.state(phone.id)).toEqual({ status: 'disconnected', lastError: 'the access token was refused (190)' })
  rig.standIn.addFault({ on: /message_templates/, effect: 'drop' })
  expect((await importAll()).body.error).toEqual({ code: 'PROVIDER_ERROR', message: 'Meta did not answer' })
  expect(await stored()).toEqual(before)
  expect(await rig.connect(phone.id)).toMatchObject({ status: 'connected' })
  expect((await rig.api.post('templates/import', { instanceId: crypto.randomUUID() })).status).toBe(404)
  expect((await rig.api.post('templates/import', {})).body.error.message).toBe('instanceId: is required')
})

it('leaves an instance connected whose token lacks nothing but the permission to read templates', async () => {
  rig.standIn.addFault({ on: /message_templates/, effect: { code: 200, status: 403 } })
  expect((await importAll()).body.error).toEqual({ code: 'PROVIDER_ERROR', message: 'the access token lacks a permission (200)' })
  expect(await rig.state(phone.id)).toEqual({ status: 'connected', lastError: null })
})
