// Proves that GraphQL and REST decide alike where no schema does: on rules between fields, uniqueness conflicts and states.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../rest-compat/route.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { type Asked, askGraph, askRest, type Decision, graphDecision, restDecision, rows } from '../rest-compat/both.ts'
import { badContacts, badGroups } from '../rest-compat/contact-bodies.ts'
import { badBodies, goodBodies } from '../rest-compat/message-bodies.ts'
import { newNumber, nobody, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
/** A tenant whose instance is disconnected, so that its messages wait. */
let asleep: Tenant

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
})

/** Sends a request over REST and then GraphQL, expects equal decisions, and returns that of REST. */
async function same(route: string, body: unknown, params: Asked['params'] = {}): Promise<Decision> {
  const row = rows.find(({ method, path }) => `${method} ${path}` === route) as Route
  const asked = { params, body }
  const rest = restDecision(await askRest(asleep.api, row, asked))
  const graph = graphDecision(row, asked, await askGraph(asleep.api, row, asked))
  expect(strip(graph)).toEqual(strip(rest))
  return rest
}

/** Removes what differs from call to call. */
function strip({ data, ...decision }: Decision): unknown {
  const {
    id: _,
    createdAt: __,
    updatedAt: ___,
    warnings: ____,
    safety: _____,
    secret: ______,
    ...rest
  } = { ...(data as object) } as Record<string, unknown>
  return { ...decision, data: rest }
}

async function idOf(path: string, body: unknown): Promise<string> {
  return (await asleep.api.post(path, body)).body.data.id
}

describe('a message', () => {
  const known = [...goodBodies, ...badBodies].map(([name, fields]): [string, Record<string, unknown>] => [name, fields])
  it.each(known.filter(([name]) => !name.startsWith('unknown fields')))('with %s gets the same decision', async (_, fields) => {
    const input = { instanceId: asleep.instance.id, to: newNumber(), ...fields }
    await same('POST /messages/send', input)
    if ('scheduledAt' in fields) return
    await same('POST /messages/schedule', { ...input, scheduledAt: new Date(Date.now() + 60_000).toISOString() })
  })

  it('among others is judged alone', async () => {
    const faulty = [{ to: '5' }, null, 'x', text(asleep, { instanceId: nobody }), text(asleep, { scheduledAt: 'x' })]
    const { data } = await same('POST /messages/bulk', { messages: faulty })
    expect(data).toMatchObject({ accepted: [], rejected: faulty.map((_, index) => ({ index })) })
  })

  it('that is already cancelled gets the same refusal', async () => {
    const id = await idOf('messages/send', text(asleep))
    await asleep.api.post(`messages/${id}/cancel`)
    expect((await same('POST /messages/:id/cancel', undefined, { id })).code).toBe('INVALID_STATE')
  })
})

it('refuses an instance without the settings of its network, alike on both surfaces', async () => {
  expect((await same('POST /instances', { name: 'x', provider: 'cloud' })).code).toBe('VALIDATION_ERROR')
})

it.each<[string, Record<string, unknown>]>([
  ['a private address', { url: 'https://10.0.0.1/', events: ['message.sent'] }],
  ['an event twice', { url: 'http://127.0.0.1:9/', events: ['message.sent', 'message.sent'] }],
])('refuses a webhook with %s, alike on both surfaces', async (_, body) => {
  expect((await same('POST /webhooks', body)).code).toBe('VALIDATION_ERROR')
})

it.each<[string, Record<string, unknown>]>([
  ['no text', { type: 'text' }],
  ['an image without a file', { type: 'image', body: 'x' }],
  ['a private file', { type: 'image', mediaUrl: 'http://10.0.0.1/' }],
  ['an unknown placeholder', { type: 'text', body: '{{order}}' }],
  ['one that is open', { type: 'text', body: '{{contact.name' }],
])('decides alike about a template with %s', async (_, body) => {
  await same('POST /templates', { name: newNumber(), ...body })
  await same('PUT /templates/:id', body, { id: await idOf('templates', { name: newNumber(), type: 'text', body: 'x' }) })
})

describe('contacts and groups', () => {
  // GraphQL coerces a single value to a list, and a body that is no object never reaches the GraphQL schema.
  const alike = (bodies: typeof badContacts) => bodies.filter(([name]) => !/place of (a list|the body)|no JSON/.test(name))
  let id: string
  let groupId: string

  beforeAll(async () => {
    id = await idOf('contacts', { name: 'Ada', phone: newNumber() })
    groupId = await idOf('contacts/groups', { name: 'Friends' })
  })

  it.each(alike(badContacts))('get the same decision: a contact with %s', async (_, body) => {
    await same('POST /contacts', body)
    await same('PUT /contacts/:id', body, { id })
  })

  it.each(alike(badGroups))('get the same decision: a group with %s', async (_, body) => {
    await same('POST /contacts/groups', body)
    await same('PUT /contacts/groups/:groupId', body, { groupId })
  })

  it('get the same conflict when a phone or name is taken', async () => {
    const contact = { name: 'Bob', phone: newNumber() }
    await idOf('contacts', contact)
    await idOf('contacts/groups', { name: 'Taken' })
    const answers = [
      await same('POST /contacts', contact),
      await same('PUT /contacts/:id', { phone: contact.phone }, { id }),
      await same('POST /contacts/groups', { name: 'Taken' }),
      await same('PUT /contacts/groups/:groupId', { name: 'Taken' }, { groupId }),
    ]
    expect(answers.map(({ code }) => code)).toEqual(Array(4).fill('CONFLICT'))
  })
})
