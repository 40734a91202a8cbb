// The graph and REST decide alike about contacts and groups: the same request gets the same record or the same refusal.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../kit/kit.ts'
import { badContacts, badGroups } from '../rest-compat/contact-bodies.ts'
import { newNumber, nobody, openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig
const own = { id: '', groupId: '', foreign: '', foreignGroup: '' }

beforeAll(async () => {
  rig = await openRig()
  const make = async ({ api }: Rig['tenant']) => {
    const id = (await api.post('contacts', { name: 'Ada Lovelace', phone: newNumber(), tags: ['vip'] })).body.data.id
    const groupId = (await api.post('contacts/groups', { name: 'Friends' })).body.data.id
    await api.post(`contacts/groups/${groupId}/members`, { contactIds: [id] })
    return [id, groupId]
  }
  ;[own.id, own.groupId] = (await make(rig.tenant)) as [string, string]
  ;[own.foreign, own.foreignGroup] = (await make(rig.stranger)) as [string, string]
})

const contact = 'id name firstName lastName phone email tags custom createdAt updatedAt'
const group = 'id name description membersCount createdAt updatedAt'
const member = 'totalCount edges { addedAt node { id name phone tags } } pageInfo { hasNextPage }'
const documents = {
  createContact: `mutation ($input: CreateContactInput!) { result: createContact(input: $input) { ${contact} } }`,
  updateContact: `mutation ($id: ID!, $input: UpdateContactInput!) { result: updateContact(id: $id, input: $input) { ${contact} } }`,
  deleteContact: 'mutation ($id: ID!) { result: deleteContact(id: $id) { id deleted } }',
  contact: `query ($id: ID!) { result: contact(id: $id) { ${contact} } }`,
  contacts: `query ($first: Int, $after: String, $sort: ContactSort, $filter: ContactFilter) {
    result: contacts(first: $first, after: $after, sort: $sort, filter: $filter) { nodes { ${contact} } pageInfo { hasNextPage } } }`,
  groupsOf: `query ($id: ID!) { result: contact(id: $id) { groups { ${group} } } }`,
  createGroup: `mutation ($input: CreateContactGroupInput!) { result: createContactGroup(input: $input) { ${group} } }`,
  updateGroup: `mutation ($id: ID!, $input: UpdateContactGroupInput!) { result: updateContactGroup(id: $id, input: $input) { ${group} } }`,
  deleteGroup: 'mutation ($id: ID!) { result: deleteContactGroup(id: $id) { id deleted } }',
  group: `query ($id: ID!) { result: contactGroup(id: $id) { ${group} } }`,
  groups: `query ($first: Int, $after: String) { result: contactGroups(first: $first, after: $after) { nodes { ${group} } pageInfo { hasNextPage } } }`,
  members: `query ($id: ID!, $first: Int, $after: String, $search: String) {
    result: contactGroup(id: $id) { members(first: $first, after: $after, search: $search) { ${member} } } }`,
}

interface Pages {
  nodes?: unknown[]
  edges?: { addedAt: string; node: object }[]
  pageInfo: { hasNextPage: boolean }
  totalCount?: number
}

/** What was decided, in one form for both: an error with REST's names, a record, or a page of them. */
function decisionOf({ body }: Answer): unknown {
  const error = body.error ?? body.errors?.[0]
  if (error) {
    const names: Record<string, string> = { first: 'limit', after: 'cursor', input: 'body', groupId: 'id' }
    const message = error.message.replace(
      /(^|; )(\w+):/g,
      (_: string, before: string, name: string) => `${before}${names[name] ?? name}:`,
    )
    return { code: error.code ?? error.extensions.code, message }
  }
  const value = body.data.result ?? body.data
  const { limit: _, nextCursor: __, ...rest } = value
  if (value.groups && !value.pageInfo && !('hasMore' in value)) return value.groups
  const page = (value.members ?? value) as Pages
  if (!page.pageInfo) return 'hasMore' in rest ? rest : value
  const items = page.nodes ?? page.edges?.map(({ addedAt, node }) => ({ ...node, addedAt }))
  const isGroups = JSON.stringify(items).includes('membersCount')
  return {
    [isGroups ? 'groups' : 'contacts']: items,
    hasMore: page.pageInfo.hasNextPage,
    ...(page.totalCount === undefined ? {} : { total: page.totalCount }),
  }
}

async function same(rest: Promise<Answer>, document: keyof typeof documents, variables: Record<string, unknown>): Promise<void> {
  const [one, other] = [await rest, await rig.tenant.api.graphql(documents[document], variables)]
  expect(decisionOf(other)).toEqual(decisionOf(one))
}

// One thing in place of a list is a list in GraphQL, and a body that is no object never reaches the graph.
const alike = (rows: typeof badContacts) => rows.filter(([name]) => !/place of (a list|the body)|no JSON/.test(name))

describe('a body', () => {
  it.each(alike(badContacts))('of a contact with %s', async (_, body) => {
    const { api } = rig.tenant
    await same(api.post('contacts', body), 'createContact', { input: body })
    await same(api.put(`contacts/${own.id}`, body), 'updateContact', { id: own.id, input: body })
  })

  it.each(alike(badGroups))('of a group with %s', async (_, body) => {
    const { api } = rig.tenant
    await same(api.post('contacts/groups', body), 'createGroup', { input: body })
    await same(api.put(`contacts/groups/${own.groupId}`, body), 'updateGroup', { id: own.groupId, input: body })
  })

  it('that changes something', async () => {
    const { api } = rig.tenant
    for (const input of [{ name: 'Ada' }, { email: null }, { tags: ['a', 'a'], custom: { a: '1' } }, { firstName: null }]) {
      const rest = await api.put(`contacts/${own.id}`, input)
      const { body } = await api.graphql(documents.updateContact, { id: own.id, input })
      const { updatedAt: _, ...record } = body.data.result
      expect(rest.body.data).toMatchObject(record)
    }
  })

  it('that others have already', async () => {
    const { api } = rig.tenant
    const taken = { name: 'Bob', phone: newNumber() }
    await api.post('contacts', taken)
    await same(api.post('contacts', taken), 'createContact', { input: taken })
    await same(api.put(`contacts/${own.id}`, { phone: taken.phone }), 'updateContact', {
      id: own.id,
      input: { phone: taken.phone },
    })
    await api.post('contacts/groups', { name: 'Taken' })
    await same(api.post('contacts/groups', { name: 'Taken' }), 'createGroup', { input: { name: 'Taken' } })
    await same(api.put(`contacts/groups/${own.groupId}`, { name: 'Taken' }), 'updateGroup', {
      id: own.groupId,
      input: { name: 'Taken' },
    })
  })
})

describe('an id', () => {
  const ids: [string, () => string][] = [
    ['of ours', () => own.id],
    ['of somebody else', () => own.foreign],
    ['of nobody', () => nobody],
    ['of a group', () => own.groupId],
    ['that is none', () => '5'],
  ]
  it.each(ids)('%s for a contact', async (_, idOf) => {
    const { api } = rig.tenant
    const id = idOf()
    await same(api.get(`contacts/${id}`), 'contact', { id })
    await same(api.get(`contacts/${id}/groups`), 'groupsOf', { id })
    if (id === own.id) return
    await same(api.put(`contacts/${id}`, { name: 'x' }), 'updateContact', { id, input: { name: 'x' } })
    await same(api.delete(`contacts/${id}`), 'deleteContact', { id })
  })

  const groupIds: typeof ids = [
    ['of ours', () => own.groupId],
    ['of somebody else', () => own.foreignGroup],
    ['of nobody', () => nobody],
    ['of a contact', () => own.id],
    ['that is none', () => '5'],
  ]
  it.each(groupIds)('%s for a group', async (_, idOf) => {
    const { api } = rig.tenant
    const id = idOf()
    await same(api.get(`contacts/groups/${id}`), 'group', { id })
    await same(api.get(`contacts/groups/${id}/members`), 'members', { id })
    if (id === own.groupId) return
    await same(api.put(`contacts/groups/${id}`, { name: 'x' }), 'updateGroup', { id, input: { name: 'x' } })
    await same(api.delete(`contacts/groups/${id}`), 'deleteGroup', { id })
  })
})

describe('a page', () => {
  it.each<[string, Record<string, unknown>]>([
    ['', {}],
    ['limit=1', { first: 1 }],
    ['limit=0', { first: 0 }],
    ['limit=101', { first: 101 }],
    ['cursor=x', { after: 'x' }],
    ['sort=name:desc', { sort: 'name_desc' }],
    ['search=LOVE', { filter: { search: 'LOVE' } }],
    ['search=', { filter: { search: '' } }],
    ['tag=vip', { filter: { tag: 'vip' } }],
    [`tag=${'x'.repeat(51)}`, { filter: { tag: 'x'.repeat(51) } }],
    ['groupId=5', { filter: { groupId: '5' } }],
  ])('of contacts by %j', async (query, variables) => {
    const bounds = (decision: unknown) =>
      JSON.stringify(decision).replace('must be between 1 and 100', 'must be a whole number from 1 to 100')
    const [one, other] = [
      await rig.tenant.api.get(`contacts?${query}`),
      await rig.tenant.api.graphql(documents.contacts, variables),
    ]
    expect(bounds(decisionOf(other))).toEqual(bounds(decisionOf(one)))
  })

  it.each<[string, Record<string, unknown>]>([
    ['', {}],
    ['limit=1', { first: 1 }],
    ['cursor=x', { after: 'x' }],
    ['search=ada', { search: 'ada' }],
    ['search=zz', { search: 'zz' }],
    ['search=', { search: '' }],
  ])('of members by %j', async (query, variables) => {
    await same(rig.tenant.api.get(`contacts/groups/${own.groupId}/members?${query}`), 'members', {
      id: own.groupId,
      ...variables,
    })
  })

  it('of groups', async () => {
    await same(rig.tenant.api.get('contacts/groups'), 'groups', {})
    await same(rig.tenant.api.get('contacts/groups?cursor=x'), 'groups', { after: 'x' })
  })
})
