// Proves that a record that does not exist leaves the rest of an answer whole, and what lists of different parents share.
import { beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { openRig, type Rig, text } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const lookUps = ['message', 'instance', 'campaign', 'template', 'contact', 'contactGroup', 'bulkJob', 'webhook', 'media']

it('a look-up that finds nothing is null, with its error beside the rest of the answer', async () => {
  const id = newId()
  const fields = lookUps.map((name) => `${name}(id: "${id}") { id }`).join(' ')
  const { status, body } = await rig.tenant.api.graphql(`{ ${fields} instances { id } }`)
  expect(status).toBe(200)
  expect(body.data).toEqual({
    ...Object.fromEntries(lookUps.map((name) => [name, null])),
    instances: [{ id: rig.tenant.instance.id }],
  })
  expect(body.errors).toHaveLength(lookUps.length)
  for (const name of lookUps) {
    expect(body.errors).toContainEqual(expect.objectContaining({ path: [name], extensions: { code: 'NOT_FOUND' } }))
  }
})

it("a stranger's record is the same as none", async () => {
  const { id } = (await rig.stranger.api.post('messages/send', text(rig.stranger))).body.data
  const { body } = await rig.tenant.api.graphql(`{ message(id: "${id}") { id } }`)
  expect(body).toMatchObject({ data: { message: null }, errors: [{ extensions: { code: 'NOT_FOUND' } }] })
})

it('the statistics of a campaign have the id of the campaign', async () => {
  const { api, instance } = rig.tenant
  const campaign = { instanceId: instance.id, name: 'Spring', type: 'text', text: 'Hi', recipients: [{ to: '+4915112345005' }] }
  const { id } = (await api.post('campaigns', campaign)).body.data
  const { body } = await api.graphql(`{ campaign(id: "${id}") { stats { id campaignId } } }`)
  expect(body.data.campaign.stats).toEqual({ id, campaignId: id })
})

it('one operation reads contacts in any order that its variable names, each with the time when it was added', async () => {
  const { api } = rig.stranger
  for (const [i, name] of ['Bo', 'Al'].entries()) await api.post('contacts', { name, phone: `+393331230${i}00` })
  const list = `query ($sort: ContactSort!, $after: String) {
    contacts(first: 1, sort: $sort, after: $after) { edges { addedAt node { phone createdAt } } pageInfo { endCursor } } }`
  const phones: string[] = []
  for (const sort of ['name_asc', 'createdAt_asc', 'name_asc']) {
    const first = (await api.graphql(list, { sort })).body.data.contacts
    const { endCursor: after } = first.pageInfo
    const second = (await api.graphql(list, { sort, after })).body.data.contacts
    for (const { addedAt, node } of [...first.edges, ...second.edges]) {
      expect(addedAt).toBe(node.createdAt)
      phones.push(node.phone)
    }
  }
  const [bo, al] = ['+393331230000', '+393331230100']
  expect(phones).toEqual([al, bo, bo, al, al, bo])
})
