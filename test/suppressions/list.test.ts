// The do-not-contact list on REST and on the graph: its records, its pages, imports, and what it does to a send.
import { beforeAll, describe, expect, it } from 'vitest'
import { promptly } from '../kit/promptly.ts'
import { upload } from '../media/rig.ts'
import { expectRefusal, moment, newNumber, newTenant, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'
import { listOf } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const fresh = () => newTenant(rig.gateway, rig.databaseUrl)

const create = `mutation ($input: CreateSuppressionInput!) { createSuppression(input: $input) { phone reason createdAt existing } }`

describe('a number', () => {
  it('is added once, listed and taken out, over REST', async () => {
    const { api } = await fresh()
    const phone = newNumber()
    const record = { phone, reason: 'manual', createdAt: moment }
    const first = await api.post('suppressions', { phone })
    expect({ status: first.status, body: first.body }).toStrictEqual({ status: 201, body: { data: record } })
    const again = await api.post('suppressions', { phone })
    expect({ status: again.status, body: again.body }).toStrictEqual({ status: 200, body: first.body })
    const list = await api.get('suppressions')
    expect(list.body).toStrictEqual({ data: { suppressions: [first.body.data], nextCursor: null, hasMore: false } })
    const gone = await api.delete(`suppressions/${encodeURIComponent(phone)}`)
    expect({ status: gone.status, body: gone.body }).toStrictEqual({ status: 200, body: { data: { phone, deleted: true } } })
    expectRefusal(await api.delete(`suppressions/${phone}`), 404, 'NOT_FOUND')
    expectRefusal(await api.delete('suppressions/5'), 400, 'VALIDATION_ERROR', /^phone: must be an E\.164/)
    expectRefusal(await api.post('suppressions', { phone: '5' }), 400, 'VALIDATION_ERROR', /^phone: must be an E\.164/)
    expectRefusal(await api.post('suppressions', {}), 400, 'VALIDATION_ERROR', 'phone: is required')
  })

  it('is added once, listed and taken out, in the graph', async () => {
    const { api } = await fresh()
    const phone = newNumber()
    const first = (await api.graphql(create, { input: { phone } })).body.data.createSuppression
    expect(first).toEqual({ phone, reason: 'manual', createdAt: moment, existing: false })
    const again = (await api.graphql(create, { input: { phone } })).body.data.createSuppression
    expect(again).toEqual({ ...first, existing: true })
    const list = await api.graphql('{ suppressions(first: 5) { nodes { phone reason } pageInfo { hasNextPage } } }')
    expect(list.body.data.suppressions.nodes).toEqual([{ phone, reason: 'manual' }])
    const remove = 'mutation ($phone: String!) { deleteSuppression(phone: $phone) { phone deleted } }'
    expect((await api.graphql(remove, { phone })).body.data.deleteSuppression).toEqual({ phone, deleted: true })
    expect((await api.graphql(remove, { phone })).body.errors[0].extensions.code).toBe('NOT_FOUND')
  })

  it('belongs to one workspace', async () => {
    const [one, other] = [await fresh(), await fresh()]
    const phone = newNumber()
    await one.api.post('suppressions', { phone })
    expect(await listOf(other)).toEqual([])
    expectRefusal(await other.api.delete(`suppressions/${phone}`), 404, 'NOT_FOUND')
    expect((await other.api.post('messages/send', text(other, { to: phone }))).status).toBe(201)
  })

  it('added by 20 requests at once is new to one of them', async () => {
    const { api } = await fresh()
    const phone = newNumber()
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await api.post('suppressions', { phone })).status))
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 200)).toHaveLength(19)
  })
})

it('the list is paged, newest first, and its cursor belongs to it', async () => {
  const tenant = await fresh()
  const phones = Array.from({ length: 7 }, newNumber)
  for (const phone of phones) await tenant.api.post('suppressions', { phone })
  const seen: string[] = []
  for (let query = 'limit=3'; query; ) {
    const { suppressions, nextCursor, hasMore } = (await tenant.api.get(`suppressions?${query}`)).body.data
    seen.push(...suppressions.map(({ phone }: { phone: string }) => phone))
    query = hasMore ? `limit=3&cursor=${nextCursor}` : ''
  }
  expect(seen).toEqual(phones.toReversed())
  expectRefusal(await tenant.api.get('suppressions?cursor=x'), 400, 'VALIDATION_ERROR', /^cursor: /)
  expectRefusal(await tenant.api.get('suppressions?limit=101'), 400, 'VALIDATION_ERROR', /^limit: /)
})

describe('a send to a suppressed number', () => {
  it('is refused with 409, now and scheduled, over REST and in the graph; in a bulk that item alone', async () => {
    const tenant = await fresh()
    const to = newNumber()
    await tenant.api.post('suppressions', { phone: to })
    const scheduledAt = new Date(Date.now() + 60_000).toISOString()
    expectRefusal(await tenant.api.post('messages/send', text(tenant, { to })), 409, 'RECIPIENT_SUPPRESSED')
    expectRefusal(await tenant.api.post('messages/schedule', text(tenant, { to, scheduledAt })), 409, 'RECIPIENT_SUPPRESSED')
    for (const [mutation, type, fields] of [
      ['sendMessage', 'SendMessageInput', {}],
      ['scheduleMessage', 'ScheduleMessageInput', { scheduledAt }],
    ] as const) {
      const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { id } }`
      const { errors } = (await tenant.api.graphql(document, { input: text(tenant, { to, ...fields }) })).body
      expect(errors[0].extensions.code).toBe('RECIPIENT_SUPPRESSED')
    }
    const messages = [text(tenant), text(tenant, { to }), text(tenant, { to, scheduledAt }), text(tenant)]
    const { accepted, rejected } = (await tenant.api.post('messages/bulk', { messages })).body.data
    expect(accepted.map(({ index }: { index: number }) => index)).toEqual([0, 3])
    expect(rejected.map(({ index, code }: { index: number; code: string }) => [index, code])).toEqual([
      [1, 'RECIPIENT_SUPPRESSED'],
      [2, 'RECIPIENT_SUPPRESSED'],
    ])
    expect((await tenant.api.get('usage')).body.data.messagesCount).toBe(2)
  })

  it('goes through after the number was taken out', async () => {
    const tenant = await fresh()
    const to = newNumber()
    await tenant.api.post('suppressions', { phone: to })
    await tenant.api.delete(`suppressions/${to}`)
    expect((await tenant.api.post('messages/send', text(tenant, { to }))).status).toBe(201)
  })
})

describe('an import', () => {
  const post = async ({ account }: Tenant, content: string, headers = {}) => {
    const form = new FormData()
    form.append('file', new Blob([content]), 'numbers.txt')
    const url = `${rig.gateway.url}/api/v1/suppressions/import`
    const answer = await fetch(url, { method: 'POST', body: form, headers: { 'x-api-key': account.apiKey, ...headers } })
    return { status: answer.status, replayed: answer.headers.get('idempotency-replayed'), body: await answer.json() }
  }

  it('reads a line of half a million blanks at once', async () => {
    const tenant = await fresh()
    const file = `x${' '.repeat(500_000)}x\n${'"'.repeat(500_000)}x\n${newNumber()}`
    const { body } = await promptly(() => post(tenant, file), { withinMs: 1_000 })
    expect(body.data).toMatchObject({ invalid: 2 })
  })

  it('adds one number a line, and counts the others', async () => {
    const tenant = await fresh()
    const [old, one, two] = [newNumber(), newNumber(), newNumber()]
    await tenant.api.post('suppressions', { phone: old })
    const file = `\uFEFF${one}\r\n\r\n"${two}"\n${old}\n${one}\nnobody\n+1`
    const headers = { 'idempotency-key': 'import' }
    const first = await post(tenant, file, headers)
    expect(first).toEqual({ status: 200, replayed: null, body: { data: { added: 2, existing: 2, invalid: 2 } } })
    expect(await post(tenant, file, headers)).toEqual({ ...first, replayed: 'true' })
    expect((await listOf(tenant)).map(({ phone }) => phone).sort()).toEqual([old, one, two].sort())
    expect((await post(tenant, file)).body.data).toEqual({ added: 0, existing: 4, invalid: 2 })
  })

  it('takes text or an uploaded file in the graph', async () => {
    const tenant = await fresh()
    const document =
      'mutation ($input: ImportSuppressionsInput!) { importSuppressions(input: $input) { added existing invalid } }'
    const [one, two] = [newNumber(), newNumber()]
    const run = async (input: object) => (await tenant.api.graphql(document, { input })).body
    expect((await run({ text: `${one}\nx` })).data.importSuppressions).toEqual({ added: 1, existing: 0, invalid: 1 })
    const { id } = (await upload(rig.gateway, tenant.account.apiKey, `${one}\n${two}\n`)).body.data
    expect((await run({ mediaId: id })).data.importSuppressions).toEqual({ added: 1, existing: 1, invalid: 0 })
    expect((await run({})).errors[0].message).toMatch(/text: is required/)
  })

  it('of one file, twice at once, adds each number once', async () => {
    const tenant = await fresh()
    const file = Array.from({ length: 500 }, newNumber).join('\n')
    const counts = (await Promise.all([post(tenant, file), post(tenant, file)])).map(({ body }) => body.data)
    expect(counts.map(({ added, existing }) => added + existing)).toEqual([500, 500])
    expect(counts.reduce((sum, { added }) => sum + added, 0)).toBe(500)
  })

  it('is refused beyond 100,000 lines, without a file, and in another form', async () => {
    const tenant = await fresh()
    const long = await post(tenant, 'x\n'.repeat(100_001))
    expect([long.status, long.body.error.message]).toEqual([400, 'file: must have at most 100000 lines'])
    expectRefusal(await tenant.api.post('suppressions/import', {}), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })
})

describe('the settings', () => {
  it('are STOP and UNSUBSCRIBE without a reply, and are changed in part', async () => {
    const { api } = await fresh()
    const defaults = { keywords: ['STOP', 'UNSUBSCRIBE'], reply: null }
    expect((await api.get('suppression-settings')).body).toEqual({ data: defaults })
    expect((await api.put('suppression-settings', { reply: 'Bye' })).body).toEqual({ data: { ...defaults, reply: 'Bye' } })
    const keywords = ['Halt', 'halt', 'Basta']
    const changed = { keywords: ['halt', 'Basta'], reply: 'Bye' }
    expect((await api.put('suppression-settings', { keywords })).body).toEqual({ data: changed })
    const update =
      'mutation ($input: UpdateSuppressionSettingsInput!) { updateSuppressionSettings(input: $input) { keywords reply } }'
    const { body } = await api.graphql(update, { input: { reply: null } })
    expect(body.data.updateSuppressionSettings).toEqual({ ...changed, reply: null })
    const read = await api.graphql('{ suppressionSettings { keywords reply } }')
    expect(read.body.data.suppressionSettings).toEqual({ ...changed, reply: null })
  })

  it.each<[body: object, message: RegExp]>([
    [{}, /^body: must change keywords or reply$/],
    [{ keywords: ['STOP', ' '] }, /^keywords\.1: must not be blank$/],
    [{ keywords: [''] }, /^keywords\.0: must not be empty$/],
    [{ keywords: ['start'] }, /^keywords\.0: must not be START/],
    [{ keywords: 'STOP' }, /^keywords: must be an array$/],
    [{ keywords: null }, /^keywords: must/],
    [{ reply: '' }, /^reply: must not be empty$/],
  ])('refuse %j', async (body, message) => {
    const { api } = rig.tenant
    expectRefusal(await api.put('suppression-settings', body), 400, 'VALIDATION_ERROR', message)
  })
})
