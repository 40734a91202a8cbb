// The initial tabs of GraphiQL: example operations that work unchanged with the demo account.

export interface Ids {
  instanceId: string
  contactId: string
  groupId: string
  templateId: string
}

export interface Tab {
  query: string
  variables?: string
}

/** One tab per example. GraphiQL names a tab after its operation. */
export function graphiqlTabs({ instanceId, contactId, groupId, templateId }: Ids): Tab[] {
  const tab = (query: string, variables?: object): Tab => ({
    query: `${query.trim()}\n`,
    ...(variables && { variables: JSON.stringify(variables, null, 2) }),
  })
  return [
    tab(
      `
# Ctrl+Enter runs it.
mutation Send($input: SendMessageInput!) {
  sendMessage(input: $input) {
    id
    status
    to
    instance { name status }
  }
}`,
      { input: { instanceId, to: '+4915112345678', type: 'text', text: 'Hello' } },
    ),
    tab(`
# Runs until it is stopped; send from a second window.
subscription Follow {
  events {
    type
    cursor
    createdAt
    message { id to status }
  }
}`),
    tab(
      `
mutation Schedule($input: ScheduleMessageInput!) {
  scheduleMessage(input: $input) {
    id
    status
    scheduledAt
  }
}`,
      {
        input: { instanceId, to: '+4915112345678', templateId, contactId, variables: { order: '4711' }, scheduledAt: inAnHour() },
      },
    ),
    tab(
      `
query Contacts($first: Int!) {
  contacts(first: $first, sort: name_asc) {
    nodes {
      id
      name
      phone
      groups { name membersCount }
    }
    pageInfo { endCursor hasNextPage }
  }
}`,
      { first: 20 },
    ),
    tab(
      `
mutation Preview($id: ID!, $contactId: ID, $variables: JSON) {
  previewTemplate(id: $id, contactId: $contactId, variables: $variables) {
    body
    missing
  }
}`,
      { id: templateId, contactId, variables: { order: '4711' } },
    ),
    tab(
      `
mutation Campaign($input: CreateCampaignInput!) {
  createCampaign(input: $input) {
    id
    status
    recipientsCount
    stats { progressPercent stats { planned queued sent delivered read failed } }
  }
}`,
      {
        input: {
          instanceId,
          name: 'News',
          groupIds: [groupId],
          recipients: [{ to: '+4915112345679' }],
          type: 'text',
          text: 'News!',
        },
      },
    ),
    tab(
      `
mutation Webhook($input: CreateWebhookInput!) {
  createWebhook(input: $input) {
    id
    events
    secret
  }
}`,
      { input: { url: 'https://example.com/hook', events: ['message_delivered', 'message_failed'] } },
    ),
  ]
}

function inAnHour(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}
