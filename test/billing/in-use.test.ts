// Proves that the usage tells what exists of everything that a plan limits, in one's own workspace and those of one's teams together.
import { expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { commons } from '../kit/commons.ts'
import { openPerson, openTeam } from './rig.ts'

const site = commons()
const document = '{ usage { instances apiKeys webhookEndpoints contactGroups teams } }'

it('counts instances, keys, endpoints, groups and teams of all workspaces, without what was deleted', async () => {
  const person = await openPerson(site, 'max')
  const read = async (client = person.api) => (await client.graphql(document)).body.data.usage
  const before = await read()
  expect(before).toEqual({ instances: 0, apiKeys: expect.any(Number), webhookEndpoints: 0, contactGroups: 0, teams: 0 })
  const team = await openTeam(site, person)
  const inTeam = person.inTeam(team)
  await connectedInstance(site.databaseUrl, person)
  const created = await inTeam.graphql('mutation { createInstance(input: { name: "Shared" }) { id } }')
  const endpoint = await inTeam.post('/api/webhooks', { url: 'https://example.com/hook', events: ['message.sent'] })
  expect([created.body.errors, endpoint.status]).toEqual([undefined, 201])
  for (const client of [person.api, inTeam])
    await client.graphql('mutation { createContactGroup(input: { name: "Friends" }) { id } }')
  const used = { instances: 2, apiKeys: before.apiKeys + 1, webhookEndpoints: 1, contactGroups: 2, teams: 1 }
  expect(await read()).toEqual(used)
  expect(await read(inTeam)).toEqual(used)
  await inTeam.graphql('mutation ($id: ID!) { deleteInstance(id: $id) { id } }', { id: created.body.data.createInstance.id })
  await inTeam.delete(`/api/webhooks/${endpoint.body.data.id}`)
  expect(await read()).toEqual({ ...used, instances: 1, webhookEndpoints: 0 })
})
