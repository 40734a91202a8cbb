// The graph shows what a sent place, contact or question has beyond its text, in the words of received messages.
import { beforeAll, expect, it } from 'vitest'
import { newNumber, newTenant, openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

it('shows the content of sent messages of the types that have one, in answers and in lists', async () => {
  const { api, instance } = await newTenant(rig.gateway, rig.databaseUrl)
  const phone = newNumber()
  const contactId = (await api.post('contacts', { name: 'Ada', phone })).body.data.id
  const buttons = [{ type: 'reply', displayText: 'Yes', id: 'yes' }]
  const sent = [
    [
      { type: 'location', latitude: 52.5, longitude: 13.4, locationName: 'The gate' },
      { kind: 'location', latitude: 52.5, longitude: 13.4, name: 'The gate', address: null },
    ],
    [
      { type: 'contact', contactId },
      { kind: 'contact', contacts: [{ name: 'Ada', phone }] },
    ],
    [
      { type: 'buttons', description: 'Friday?', buttons },
      { kind: 'buttons', title: null, footer: null, buttons },
    ],
    [{ type: 'text', text: 'Hello' }, null],
  ] as const
  const send = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { content } }'
  for (const [fields, content] of sent) {
    const { body } = await api.graphql(send, { input: { instanceId: instance.id, to: newNumber(), ...fields } })
    expect(body.data.sendMessage).toEqual({ content })
  }
  const { nodes } = (await api.graphql('{ messages(first: 4) { nodes { content } } }')).body.data.messages
  expect(nodes).toEqual(sent.map(([, content]) => ({ content })).toReversed())
})
