// The graph and REST decide alike: the same request gets the same record or the same refusal on both.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answer, connectedInstance, sql } from '../kit/kit.ts'
import { badBodies, goodBodies } from '../rest-compat/message-bodies.ts'
import { newNumber, newTenant, nobody, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
let asleep: Tenant

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
})

const record = `id userId instanceId contactId campaignId direction type from to body mediaUrl status error providerMessageId warnings
  safety { decision riskLevel state score } createdAt updatedAt`
const documents = {
  send: `mutation ($input: SendMessageInput!) { result: sendMessage(input: $input) { ${record} } }`,
  schedule: `mutation ($input: ScheduleMessageInput!) { result: scheduleMessage(input: $input) { ${record} } }`,
  bulk: 'mutation ($input: SendMessagesInput!) { result: sendMessages(input: $input) { accepted { index } rejected { index code message } } }',
  cancel: `mutation ($id: ID!) { result: cancelMessage(id: $id) { ${record} } }`,
  message: `query ($id: ID!) { result: message(id: $id) { ${record} } }`,
  createInstance:
    'mutation ($input: CreateInstanceInput!) { result: createInstance(input: $input) { name waNumber status webhook meta deletedAt } }',
  connect: 'mutation ($id: ID!, $phone: String) { result: connectInstance(id: $id, phone: $phone) { instanceId } }',
  instance: 'query ($id: ID!) { result: instance(id: $id) { id } }',
  health: 'query ($id: ID!) { result: instance(id: $id) { health { instanceId safetyScore recommendations } } }',
  createTemplate: 'mutation ($input: CreateTemplateInput!) { result: createTemplate(input: $input) { name type body mediaUrl } }',
  updateTemplate:
    'mutation ($id: ID!, $input: UpdateTemplateInput!) { result: updateTemplate(id: $id, input: $input) { name type body mediaUrl } }',
  preview:
    'mutation ($id: ID!, $contactId: ID, $variables: JSON) { result: previewTemplate(id: $id, contactId: $contactId, variables: $variables) { type body mediaUrl missing } }',
  createWebhook: 'mutation ($input: CreateWebhookInput!) { result: createWebhook(input: $input) { url } }',
  messages: `query ($first: Int, $after: String, $filter: MessageFilter) { result: messages(first: $first, after: $after, filter: $filter) { nodes { id } } }`,
}

/** What was decided, without what differs from call to call. */
function decisionOf({ body }: Answer): unknown {
  const error = body.error ?? body.errors?.[0]
  if (!error) return strip(body.data.result ?? body.data)
  // The graph names its own arguments.
  const message = error.message.replace(/\bfirst:/, 'limit:').replace(/\bafter:/, 'cursor:')
  return { code: error.code ?? error.extensions.code, message }
}

function strip(value: Record<string, unknown>): unknown {
  const { id: _, createdAt: __, updatedAt: ___, warnings: ____, safety: _____, ...rest } = value
  return rest
}

async function same(
  rest: Promise<Answer>,
  document: keyof typeof documents,
  variables: Record<string, unknown>,
  tenant = asleep,
): Promise<void> {
  const [one, other] = [await rest, await tenant.api.graphql(documents[document], variables)]
  expect(decisionOf(other)).toEqual(decisionOf(one))
}

describe('sending', () => {
  const known = [...goodBodies, ...badBodies].map(([name, fields]): [string, Record<string, unknown>] => [name, fields])
  it.each(known.filter(([name]) => !name.startsWith('unknown fields')))('%s', async (_, fields) => {
    const input = { instanceId: asleep.instance.id, to: newNumber(), ...fields }
    await same(asleep.api.post('messages/send', input), 'send', { input })
    if ('scheduledAt' in fields) return
    const later = { ...input, scheduledAt: new Date(Date.now() + 60_000).toISOString() }
    await same(asleep.api.post('messages/schedule', later), 'schedule', { input: later })
  })

  it.each<[string, () => Record<string, unknown>]>([
    ["a stranger's instance", () => ({ instanceId: rig.stranger.instance.id })],
    ['no instance', () => ({ instanceId: nobody })],
    ['no contact', () => ({ type: 'contact', contactId: nobody })],
    ['no template', () => ({ type: undefined, templateId: nobody })],
  ])('with %s', async (_, fields) => {
    const input = { ...text(asleep), ...fields() }
    await same(asleep.api.post('messages/send', input), 'send', { input })
  })

  it('in bulk', async () => {
    const messages = [
      text(asleep),
      { to: '5' },
      null,
      'x',
      text(asleep, { instanceId: nobody }),
      text(asleep, { scheduledAt: 'x' }),
    ]
    const rest = (await asleep.api.post('messages/bulk', { messages })).body.data
    const { body } = await asleep.api.graphql(documents.bulk, { input: { messages } })
    expect(body.data.result.rejected).toEqual(rest.rejected)
    expect(body.data.result.accepted).toEqual([{ index: 0 }])
    for (const input of [{}, { messages: [] }, { messages: Array(1001).fill({}) }])
      await same(asleep.api.post('messages/bulk', input), 'bulk', { input })
  })

  it('without quota, and without a subscription', async () => {
    const free = await newTenant(rig.gateway, rig.databaseUrl, 'free')
    const pool = sql(rig.databaseUrl)
    const fill = `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, 500)`
    await pool.query(fill, [free.account.userId])
    const scheduledAt = new Date(Date.now() + 60_000).toISOString()
    const inputs = [text(free), text(free, { to: '5' }), text(free, { instanceId: nobody })]
    const compare = async () => {
      for (const input of inputs) await same(free.api.post('messages/send', input), 'send', { input }, free)
      await same(
        free.api.post('messages/schedule', { ...inputs[0], scheduledAt }),
        'schedule',
        { input: { ...inputs[0], scheduledAt } },
        free,
      )
      await same(free.api.post('instances', { name: '' }), 'createInstance', { input: { name: '' } }, free)
    }
    await compare()
    await pool.query(`update subscriptions set status = 'inactive' where "userId" = $1`, [free.account.userId])
    await compare()
  })
})

describe('reading', () => {
  it.each<['message' | 'instance' | 'health', string, (id: string) => string]>([
    ['message', 'messages', (id) => `messages/${id}`],
    ['instance', 'instances', (id) => `instances/${id}`],
    ['health', 'instances', (id) => `instances/${id}/health`],
  ])('one %s', async (document, table, path) => {
    const own = document === 'message' ? (await asleep.api.post('messages/send', text(asleep))).body.data.id : asleep.instance.id
    const foreign =
      document === 'message'
        ? (await rig.stranger.api.post('messages/send', text(rig.stranger))).body.data.id
        : rig.stranger.instance.id
    expect(table).toEqual(expect.any(String))
    for (const id of [foreign, nobody, '5', `{${nobody}}`]) await same(asleep.api.get(path(id)), document, { id })
    if (document === 'message') await same(asleep.api.get(path(own)), document, { id: own })
  })

  it.each<[string, Record<string, unknown>]>([
    ['limit=0', { first: 0 }],
    ['limit=101', { first: 101 }],
    ['cursor=x', { after: 'x' }],
    ['cursor=', { after: '' }],
    ['status=gone', { filter: { status: 'gone' } }],
    ['direction=up', { filter: { direction: 'up' } }],
    ['instanceId=5', { filter: { instanceId: '5' } }],
    ['to=5', { filter: { to: '5' } }],
    ['createdFrom=x&to=5', { filter: { createdFrom: 'x', to: '5' } }],
  ])('messages by %s', async (query, variables) => {
    const [rest, graph] = [await asleep.api.get(`messages?${query}`), await asleep.api.graphql(documents.messages, variables)]
    const words = (decision: unknown) => ({
      ...(decision as object),
      message: String((decision as { message: string }).message).replace(/limit: must be .*/, 'limit'),
    })
    expect(words(decisionOf(graph))).toEqual(words(decisionOf(rest)))
  })
})

describe('changing', () => {
  it.each<[string, Record<string, unknown>]>([
    ['nothing', {}],
    ['an empty name', { name: '' }],
    ['a long name', { name: 'x'.repeat(101) }],
    ['an unknown provider', { name: 'x', provider: 'pigeon' }],
    ['a provider not set up', { name: 'x', provider: 'web' }],
    ['NUL in settings', { name: 'x', settings: { a: '\0' } }],
    ['a good one', { name: 'x' }],
  ])('instances with %s', async (_, input) => {
    await same(asleep.api.post('instances', input), 'createInstance', { input })
  })

  it('an instance that is not there, or by no number', async () => {
    for (const id of [nobody, '5', rig.stranger.instance.id])
      await same(asleep.api.post(`instances/${id}/connect`), 'connect', { id })
    const { id } = rig.tenant.instance
    await same(rig.tenant.api.post(`instances/${id}/connect`, { phone: '5' }), 'connect', { id, phone: '5' }, rig.tenant)
  })

  it.each<[string, Record<string, unknown>]>([
    ['nothing', {}],
    ['a private url', { url: 'https://10.0.0.1/', events: ['message_sent'] }],
    ['no events', { url: 'http://127.0.0.1:9/', events: [] }],
    ['an event twice', { url: 'http://127.0.0.1:9/', events: ['message_sent', 'message_sent'] }],
    ['a good one', { url: 'http://127.0.0.1:9/', events: ['message_sent'] }],
  ])('webhooks with %s', async (_, input) => {
    const events = (input.events as string[] | undefined)?.map((name) => name.replace('_', '.'))
    const [rest, graph] = [
      await asleep.api.post('webhooks', { ...input, events }),
      await asleep.api.graphql(documents.createWebhook, { input }),
    ]
    if (rest.status === 201) expect(graph.body.data.result.url).toBe(rest.body.data.url)
    else expect(decisionOf(graph)).toEqual(decisionOf(rest))
  })

  it.each<[string, Record<string, unknown>]>([
    ['no name', { type: 'text', body: '' }],
    ['no text', { name: 'x', type: 'text' }],
    ['an unknown type', { name: 'x', type: 'voice_note', body: 'x' }],
    ['NUL', { name: '\0', type: 'text', body: '\0' }],
    ['an image without a file', { name: 'x', type: 'image', body: 'x' }],
    ['a private file', { name: 'x', type: 'image', mediaUrl: 'http://10.0.0.1/' }],
    ['an unknown placeholder', { name: 'x', type: 'text', body: '{{order}}' }],
    ['one that is open', { name: 'x', type: 'text', body: '{{contact.name' }],
  ])('templates with %s', async (_, input) => {
    await same(asleep.api.post('templates', input), 'createTemplate', { input })
    const { id } = (await asleep.api.post('templates', { name: newNumber(), type: 'text', body: 'x' })).body.data
    const { name: __, ...change } = input
    await same(asleep.api.put(`templates/${id}`, change), 'updateTemplate', { id, input: change })
  })

  it('a template, well', async () => {
    const { id } = (await asleep.api.post('templates', { name: newNumber(), type: 'text', body: 'x' })).body.data
    const input = { name: newNumber(), type: 'image', body: '{{contact.name}}', mediaUrl: 'https://example.com/a.png' }
    await same(asleep.api.put(`templates/${id}`, input), 'updateTemplate', { id, input })
    await same(asleep.api.post('templates', input), 'createTemplate', { input })
  })

  it('previews of templates', async () => {
    const body = '{{contact.name}} {{custom.a}}'
    const { id } = (await asleep.api.post('templates', { name: newNumber(), type: 'text', body })).body.data
    const { id: contactId } = (await asleep.api.post('contacts', { name: 'Ada', phone: newNumber() })).body.data
    const asked = [
      {},
      { contactId },
      { contactId: nobody },
      { contactId: '5', variables: { a: 7 } },
      { variables: { a: 'x' } },
      { variables: 'x' },
    ]
    for (const body of asked) await same(asleep.api.post(`templates/${id}/preview`, body), 'preview', { id, ...body })
    for (const other of [nobody, '5']) await same(asleep.api.post(`templates/${other}/preview`), 'preview', { id: other })
  })

  it('a message that cannot be cancelled', async () => {
    const { id } = (await asleep.api.post('messages/send', text(asleep))).body.data
    await asleep.api.post(`messages/${id}/cancel`)
    for (const other of [id, nobody, '5']) await same(asleep.api.post(`messages/${other}/cancel`), 'cancel', { id: other })
  })
})
