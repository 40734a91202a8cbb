// Proves that errors about fields name each of them by itself, in `extensions.issues`, beside the message that joins them.
import { beforeAll, expect, it } from 'vitest'
import { failure, invalid } from '../../src/core/errors.ts'
import { newId } from '../../src/core/id.ts'
import { openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

interface Extensions {
  code: string
  issues?: { path: string; message: string }[]
}

async function refusal(query: string, variables: object): Promise<{ message: string; extensions: Extensions }> {
  const { body } = await rig.tenant.api.graphql(query, variables as Record<string, unknown>)
  expect(body.errors).toHaveLength(1)
  return body.errors[0]
}

const send = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { id } }'

it('an input names every wrong field by its path, as the message does', async () => {
  const buttons = [{ type: 'reply', displayText: 'Yes' }]
  const input = { instanceId: rig.tenant.instance.id, to: '123', type: 'buttons', description: 'Well?', buttons }
  const { message, extensions } = await refusal(send, { input })
  expect(extensions.code).toBe('VALIDATION_ERROR')
  expect(extensions.issues?.map(({ path }) => path)).toEqual(['to', 'buttons.0.id'])
  expect(extensions.issues?.map(({ path, message }) => `${path}: ${message}`).join('; ')).toBe(message)
})

it('variables that have the wrong type, ids and page arguments are named', async () => {
  const input = { instanceId: 5, to: [], type: 'text' }
  const { extensions } = await refusal(send, { input })
  expect(extensions.issues?.map(({ path }) => path)).toEqual(expect.arrayContaining(['instanceId', 'to']))
  expect((await refusal('query ($id: ID!) { message(id: $id) { id } }', { id: 'x' })).extensions.issues).toEqual([
    { path: 'id', message: 'must be a UUID' },
  ])
  expect((await refusal('{ messages(first: 0) { nodes { id } } }', {})).extensions.issues).toEqual([
    { path: 'first', message: 'must be between 1 and 100' },
  ])
  const change = 'mutation ($input: UpdateContactInput!) { updateContact(id: "x", input: $input) { id } }'
  expect((await refusal(change, { input: { name: '' } })).extensions.issues?.map(({ path }) => path)).toEqual(['id', 'name'])
})

it('a variable that is a list of inputs names every wrong field by the index of its item', async () => {
  const named =
    'mutation ($buttons: [ButtonInput!]) { sendMessage(input: { instanceId: "i", to: "t", type: buttons, buttons: $buttons }) { id } }'
  const button = { type: 'reply', displayText: 'Yes', id: 'yes' }
  const { message, extensions } = await refusal(named, { buttons: [button, { ...button, id: 5 }, { type: 'reply', id: 'no' }] })
  expect(extensions.issues).toEqual([
    { path: 'buttons.1.id', message: 'must be a string' },
    { path: 'buttons.2.displayText', message: 'is required' },
  ])
  expect(message).toBe('buttons.1.id: must be a string; buttons.2.displayText: is required')
  // GraphQL takes a single value for a list of one.
  expect((await refusal(named, { buttons: { ...button, id: 5 } })).message).toBe('buttons.0.id: must be a string')
  expect((await refusal(named, { buttons: [null] })).message).toBe('buttons.0: must not be null')
  expect((await refusal(named.replace('!])', '!]!)'), {})).message).toBe('buttons: is required')
  const long = Array.from({ length: 30_001 }, () => button)
  expect((await refusal(named, { buttons: long })).message).toBe('buttons: must have at most 30000 items')
})

it('a template that cannot be stored or filled in names its fields and values', async () => {
  const create = 'mutation ($input: CreateTemplateInput!) { createTemplate(input: $input) { id } }'
  const { extensions } = await refusal(create, { input: { name: 'Picture', type: 'image', body: 'x' } })
  expect(extensions).toEqual({ code: 'TEMPLATE_INVALID', issues: [{ path: 'mediaUrl', message: 'is required for type image' }] })
  const { body } = await rig.tenant.api.post('templates', {
    name: newId(),
    type: 'text',
    body: 'Hi {{custom.a}} and {{custom.b}}',
  })
  const input = { instanceId: rig.tenant.instance.id, to: '+4915112345001', templateId: body.data.id }
  expect((await refusal(send, { input })).extensions.issues?.map(({ path }) => path)).toEqual(['custom.a', 'custom.b'])
})

it('a repeated request under an Idempotency-Key gets the same issues', async () => {
  const input = { instanceId: rig.tenant.instance.id, to: '1', type: 'text', text: '', idempotencyKey: newId() }
  const first = await refusal(send, { input })
  expect(first.extensions.issues?.length).toBeGreaterThan(1)
  expect((await refusal(send, { input })).extensions).toEqual(first.extensions)
})

it('an error that names no field has none', async () => {
  const { extensions } = await refusal('{ message(id: "0198c0de-0000-7000-8000-000000000000") { id } }', {})
  expect(extensions).toEqual({ code: 'NOT_FOUND' })
  expect((await refusal('{ nothing }', {})).extensions).toEqual({ code: 'VALIDATION_ERROR' })
  expect(failure('CONFLICT', 'name: is taken').extensions).toEqual({ code: 'CONFLICT' })
})

it('a fault that occurs twice is named once, and a long list says that there are more', () => {
  const issue = { path: 'to', message: 'is required' }
  expect(invalid([issue, { ...issue }], { more: true })).toMatchObject({
    message: 'to: is required; and more',
    extensions: { issues: [issue] },
  })
})

it('REST answers stay as they are specified', async () => {
  const { body } = await rig.tenant.api.post('messages/send', { to: '1' })
  expect(Object.keys(body)).toEqual(['error'])
  expect(Object.keys(body.error)).toEqual(['code', 'message'])
})
