// The preview of a message: it tells what sending it would do, refuses what sending it refuses, and stores nothing.
import { beforeAll, expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { newId } from '../../src/core/id.ts'
import { type Api, api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { newNumber, newTenant, openRig, type Rig } from '../rest-compat/rig.ts'

const document = `query ($input: SendMessageInput!, $at: String) { previewMessage(input: $input, scheduledAt: $at) {
  to type body mediaUrl contactId dueAt warnings safety { decision riskLevel state score } quota { limit left leftAfter missing } } }`

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

async function ask(fields: Record<string, unknown>, { client = rig.tenant.api, at }: { client?: Api; at?: string } = {}) {
  const input = { instanceId: rig.tenant.instance.id, to: newNumber(), type: 'text', text: 'hello', ...fields }
  const { body } = await client.graphql(document, { input, at })
  const [error] = body.errors ?? []
  return error ? `${error.extensions.code} ${error.message}` : body.data.previewMessage
}

it('has the text with the values of the contact, the quota afterwards, and the assessment', async () => {
  const { api } = rig.tenant
  const phone = newNumber()
  const contact = (await api.post('contacts', { name: 'Ada Lovelace', phone })).body.data
  const template = (await api.post('templates', { name: newId(), type: 'text', body: 'Hi {{contact.firstName}}' })).body.data
  const told = await ask({ to: phone, type: undefined, text: undefined, templateId: template.id })
  expect(told).toMatchObject({ to: phone, type: 'text', body: 'Hi Ada', mediaUrl: null, contactId: contact.id })
  expect(told.safety).toMatchObject({ state: 'stable' })
  expect(told.quota.leftAfter).toBe(told.quota.left - 1)
})

it('tells the warnings and the assessment that the message then gets', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  const fields = { instanceId: tenant.instance.id, to: newNumber() }
  const { warnings, safety } = await ask(fields, { client: tenant.api })
  const sent = (await tenant.api.post('messages/send', { ...fields, type: 'text', text: 'hello' })).body.data
  expect({ warnings, safety }).toEqual({ warnings: sent.warnings, safety: sent.safety })
})

it('is due at its time, which is checked as that of a scheduled message', async () => {
  const at = new Date(Date.now() + 3_600_000).toISOString()
  expect((await ask({}, { at })).dueAt).toBe(at)
  expect(await ask({}, { at: '2020-01-01T00:00:00Z' })).toBe('VALIDATION_ERROR scheduledAt: must be in the future')
})

it('stores no message and no event, and takes no quota', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  const { workspaceId, userId } = tenant.account
  const rows = async () =>
    (
      await sql(rig.databaseUrl).query(
        `select (select count(*) from messages where "workspaceId" = $1)::int as messages, (select count(*) from events where "workspaceId" = $1)::int as events,
          (select coalesce(sum("messagesCount"), 0) from usage where "userId" = $2)::int as counted`,
        [workspaceId, userId],
      )
    ).rows[0]
  const before = await rows()
  await ask({ instanceId: tenant.instance.id, idempotencyKey: 'one' }, { client: tenant.api })
  expect(await rows()).toEqual(before)
})

it.each([
  ['a number that is none', { to: '12' }],
  ['a text that is missing', { text: '' }],
  ['an instance that does not exist', { instanceId: newId() }],
  ['a template that does not exist', { type: undefined, text: undefined, templateId: newId() }],
  ['a contact that does not exist', { contactId: newId() }],
])('refuses %s in the words of the send', async (_, fields) => {
  const input = { instanceId: rig.tenant.instance.id, to: newNumber(), type: 'text', text: 'hello', ...fields }
  const { error } = (await rig.tenant.api.post('messages/send', input)).body
  expect(await ask(fields)).toBe(`${error.code} ${error.message}`)
})

it('refuses numbers in the do-not-contact list, missing values, and instances of another workspace', async () => {
  const { api } = rig.tenant
  const to = newNumber()
  await api.post('suppressions', { phone: to })
  expect(await ask({ to })).toMatch(/^RECIPIENT_SUPPRESSED /)
  const template = (await api.post('templates', { name: newId(), type: 'text', body: 'Code {{custom.code}}' })).body.data
  expect(await ask({ type: undefined, text: undefined, templateId: template.id })).toBe(
    'TEMPLATE_INVALID custom.code: has no value',
  )
  expect(await ask({ instanceId: rig.stranger.instance.id })).toBe('NOT_FOUND Instance not found')
})

it('is for keys that read or send, and for nobody without one', async () => {
  for (const access of ['send', 'read'] as const) {
    const { key } = await createApiKey(prisma(rig.databaseUrl), { email: rig.tenant.account.email, name: access, access })
    expect((await ask({}, { client: api(rig.gateway, key) })).type).toBe('text')
  }
  expect(await ask({}, { client: api(rig.gateway) })).toMatch(/^UNAUTHORIZED /)
})
