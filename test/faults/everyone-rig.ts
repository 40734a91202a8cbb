// Random operations of all domains, which people of a workspace make at the same time. There are few records, so that operations conflict.
import type { Answer, Api } from '../kit/api.ts'
import { pickFrom } from '../kit/random.ts'

/** The ids that operations have made, of which others choose. */
const kinds = ['instances', 'contacts', 'groups', 'campaigns', 'messages', 'endpoints', 'templates', 'keys'] as const
type Kind = (typeof kinds)[number]

export interface Space {
  /** Clients of the people who use it. */
  clients: readonly Api[]
  /** The path of its API keys. */
  keysAt: string
  ids: Record<Kind, string[]>
}

export function newSpace(clients: readonly Api[], keysAt: string, instances: string[]): Space {
  const none = Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Space['ids']
  return { clients, keysAt, ids: { ...none, instances } }
}

/** Makes one request, or none where a record that it needs is not there yet. */
export type Operation = (space: Space, client: Api) => Promise<Answer | undefined>

/** Most ids of a kind that are remembered. */
const mostKept = 40
/** Endings of numbers that the sandbox treats in different ways. */
const endings = ['5555', '5555', '5555', '0001', '0002', '0003', '0004', '0005', '0006', '0008', '0010']

/** The operations by name. `hook`: the address of a receiver of webhooks. */
export function operationsOf(random: () => number, hook: string): Record<string, Operation> {
  const upTo = (most: number) => Math.floor(random() * most)
  const pick = <T>(list: readonly T[]): T => pickFrom(list, random)
  const phone = () => `+39333${String(upTo(60)).padStart(3, '0')}${pick(endings)}`
  const soon = () => new Date(Date.now() + 500 + upTo(8_000)).toISOString()
  const many = <T>(most: number, of: () => T): T[] => Array.from({ length: 1 + upTo(most) }, of)
  const message = ({ ids }: Space) => ({
    instanceId: pick(ids.instances),
    to: phone(),
    ...(ids.templates.length > 0 && random() < 0.2 ? { templateId: pick(ids.templates) } : { type: 'text', text: `${upTo(99)}` }),
    ...(random() < 0.3 && { idempotencyKey: `key ${upTo(200)}` }),
  })
  const contactsOf = ({ ids: { contacts } }: Space, most: number) => (contacts.length > 0 ? many(most, () => pick(contacts)) : [])
  function keep(space: Space, kind: Kind, answer: Answer): Answer {
    const made = answer.body?.data
    const list = space.ids[kind]
    for (const { id } of made?.accepted ?? [made?.apiKey ?? made ?? {}]) if (id) list.push(id)
    while (list.length > mostKept) list.splice(upTo(list.length), 1)
    return answer
  }
  const creates =
    (kind: Kind, path: string, body: (space: Space) => object): Operation =>
    async (space, client) =>
      keep(space, kind, await client.post(`/api/${path}`, body(space)))
  const changes =
    (kind: Kind, how: (client: Api, id: string, space: Space) => Promise<Answer> | undefined): Operation =>
    async (space, client) =>
      space.ids[kind].length > 0 ? await how(client, pick(space.ids[kind]), space) : undefined
  const seldom =
    (operation: Operation): Operation =>
    async (space, client) =>
      random() < 0.3 ? await operation(space, client) : undefined
  const key: Operation = async (space, client) => keep(space, 'keys', await client.post(space.keysAt, { name: 'k' }))

  return {
    send: creates('messages', 'messages/send', message),
    schedule: creates('messages', 'messages/schedule', (space) => ({ ...message(space), scheduledAt: soon() })),
    bulk: creates('messages', 'messages/bulk', (space) => ({
      messages: many(20, () => ({ ...message(space), ...(random() < 0.3 && { scheduledAt: soon() }) })),
    })),
    cancel: changes('messages', (client, id) => client.post(`/api/messages/${id}/cancel`)),
    list: (_, client) => client.get(`/api/messages?limit=${1 + upTo(50)}`),
    receive: ({ ids }, client) =>
      client.post(`/api/instances/${pick(ids.instances)}/sandbox/inbound`, {
        from: phone(),
        type: 'text',
        text: pick(['hi', 'hi', 'STOP', 'START']),
      }),
    addContact: creates('contacts', 'contacts', () => ({ phone: phone(), name: `Name ${upTo(50)}` })),
    changeContact: changes('contacts', (client, id) =>
      client.put(`/api/contacts/${id}`, pick([{ name: `Name ${upTo(50)}` }, { phone: phone() }])),
    ),
    // Without `erase`: the invariants count the rows of messages.
    deleteContact: changes('contacts', (client, id) => client.delete(`/api/contacts/${id}`)),
    deleteContacts: seldom(
      changes('contacts', (client, _, space) => client.post('/api/contacts/bulk-delete', { contactIds: contactsOf(space, 4) })),
    ),
    addGroup: creates('groups', 'contacts/groups', () => ({ name: `Group ${upTo(30)}` })),
    deleteGroup: seldom(changes('groups', (client, id) => client.delete(`/api/contacts/groups/${id}`))),
    addMembers: changes('groups', (client, id, space) => {
      const contactIds = contactsOf(space, random() < 0.1 ? 150 : 10)
      return contactIds.length > 0 ? client.post(`/api/contacts/groups/${id}/members`, { contactIds }) : undefined
    }),
    removeMembers: changes('groups', (client, id, space) => {
      const contactIds = contactsOf(space, 2)
      return contactIds.length > 0 ? client.delete(`/api/contacts/groups/${id}/members`, { contactIds }) : undefined
    }),
    addCampaign: creates('campaigns', 'campaigns', ({ ids }) => ({
      instanceId: pick(ids.instances),
      name: `Campaign ${upTo(99)}`,
      type: 'text',
      text: 'Hi',
      recipients: many(60, () => ({ to: phone() })),
      ...(ids.groups.length > 0 && random() < 0.4 && { groupIds: [pick(ids.groups)] }),
      ...(random() < 0.3 && { ratePerMinute: 600 }),
      ...(random() < 0.2 && { scheduledAt: soon() }),
    })),
    steerCampaign: changes('campaigns', (client, id) =>
      client.post(`/api/campaigns/${id}/${pick(['pause', 'pause', 'resume', 'resume', 'resume', 'cancel'])}`),
    ),
    changeCampaign: changes('campaigns', (client, id) =>
      client.put(`/api/campaigns/${id}`, pick([{ name: 'x' }, { ratePerMinute: 1_200 }, { ratePerMinute: null }])),
    ),
    stats: changes('campaigns', (client, id) => client.get(`/api/campaigns/${id}/stats`)),
    suppress: seldom((_, client) => client.post('/api/suppressions', { phone: phone() })),
    allow: (_, client) => client.delete(`/api/suppressions/${encodeURIComponent(phone())}`),
    addEndpoint: creates('endpoints', 'webhooks', () => ({
      url: hook,
      events: ['message.sent', 'message.delivered', 'message.failed', 'message.received'],
    })),
    changeEndpoint: changes('endpoints', (client, id) =>
      client.put(`/api/webhooks/${id}`, pick([{ enabled: false }, { enabled: true }, { enabled: true }, { url: hook }])),
    ),
    rotate: changes('endpoints', (client, id) => client.post(`/api/webhooks/${id}/rotate-secret`)),
    deleteEndpoint: seldom(changes('endpoints', (client, id) => client.delete(`/api/webhooks/${id}`))),
    addTemplate: creates('templates', 'templates', () => ({
      name: `Template ${upTo(40)}`,
      type: 'text',
      body: 'Hi {{contact.name}}',
    })),
    changeTemplate: changes('templates', (client, id) => client.put(`/api/templates/${id}`, { body: 'Yo' })),
    deleteTemplate: seldom(changes('templates', (client, id) => client.delete(`/api/templates/${id}`))),
    connect: changes('instances', (client, id) => client.post(`/api/instances/${id}/connect`)),
    logOut: seldom(changes('instances', (client, id) => client.post(`/api/instances/${id}/logout`))),
    rename: changes('instances', (client, id) => client.put(`/api/instances/${id}`, { name: `Phone ${upTo(9)}` })),
    health: changes('instances', (client, id) => client.get(`/api/instances/${id}/health`)),
    addKey: key,
    revokeKey: async (space, client) =>
      space.ids.keys.length > 0 ? await client.delete(`${space.keysAt}/${pick(space.ids.keys)}`) : undefined,
    usage: (_, client) => client.get('/api/usage'),
    export: seldom((_, client) => client.get(pick(['/api/messages/export.csv', '/api/contacts/export.csv']))),
    graph: (_, client) =>
      client.graphql(`{ conversations(first: 20) { nodes { unreadCount lastMessage { id status } } }
        campaigns(first: 10) { nodes { stats { stats { planned queued sent failed cancelled } } } }
        messages(first: 20) { nodes { contact { id } campaign { id } instance { id } } } }`),
  }
}
