// REST routes of messages.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { messagesQuery, number } from './message-filters.ts'
import { bodyAsInput, byId, listQuery, pageAnswer, pageNames, pageOf, row } from './route.ts'

export const messageRecord = z.object({
  id: z.uuid(),
  userId: z.string(),
  instanceId: z.string(),
  contactId: z.string().nullable(),
  campaignId: z.string().nullable(),
  direction: z.string(),
  type: z.string(),
  from: z.string().nullable(),
  to: z.string(),
  body: z.string(),
  mediaUrl: z.string().nullable(),
  status: z.string(),
  error: z.string().nullable(),
  providerMessageId: z.string().nullable(),
  warnings: z.array(z.string()),
  safety: z.object({ decision: z.string(), riskLevel: z.string(), state: z.string(), score: z.int() }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

const SendMessage = graphql(`
  mutation SendMessage($input: SendMessageInput!) {
    sendMessage(input: $input) {
      ...MessageRecord
    }
  }
`)

const ScheduleMessage = graphql(`
  mutation ScheduleMessage($input: ScheduleMessageInput!) {
    scheduleMessage(input: $input) {
      ...MessageRecord
    }
  }
`)

const SendMessages = graphql(`
  mutation SendMessages($input: SendMessagesInput!) {
    sendMessages(input: $input) {
      accepted {
        index
        id
      }
      rejected {
        index
        code
        message
      }
    }
  }
`)

const CancelMessage = graphql(`
  mutation CancelMessage($id: ID!) {
    cancelMessage(id: $id) {
      ...MessageRecord
    }
  }
`)

const MarkRead = graphql(`
  mutation MarkRead($id: ID!) {
    markRead(id: $id) {
      ...MessageRecord
    }
  }
`)

const GetMessage = graphql(`
  query GetMessage($id: ID!) {
    message(id: $id) {
      ...MessageRecord
    }
  }
`)

export const ListMessages = graphql(`
  query ListMessages($first: Int!, $after: String, $sort: MessageSort, $filter: MessageFilter) {
    messages(first: $first, after: $after, sort: $sort, filter: $filter) {
      nodes {
        ...MessageRecord
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

const MessageHistory = graphql(`
  query MessageHistory($phone: String!, $first: Int!, $after: String) {
    history(phone: $phone, first: $first, after: $after) {
      nodes {
        ...MessageRecord
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

graphql(`
  fragment MessageRecord on Message {
    id
    userId
    instanceId
    contactId
    campaignId
    direction
    type
    from
    to
    body
    mediaUrl
    status
    error
    providerMessageId
    warnings
    safety {
      decision
      riskLevel
      state
      score
    }
    createdAt
    updatedAt
  }
`)

const historyQuery = z.object({
  ...listQuery(20),
  phone: number.meta({ description: 'The number of the other party, E.164.', examples: ['+4915112345678'] }),
})

export const messageRoutes = [
  row('POST', '/messages/send', {
    summary: 'Send a message',
    document: SendMessage,
    input: 'SendMessageInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.sendMessage,
    answer: messageRecord,
  }),
  row('POST', '/messages/schedule', {
    summary: 'Schedule a message',
    document: ScheduleMessage,
    input: 'ScheduleMessageInput',
    status: 201,
    variables: bodyAsInput,
    project: (data) => data.scheduleMessage,
    answer: messageRecord,
  }),
  row('POST', '/messages/bulk', {
    summary: 'Send or schedule up to 1000 messages in one request',
    document: SendMessages,
    input: 'SendMessagesInput',
    status: 202,
    bodyLimit: 16 * 1024 * 1024,
    values: 'bulk',
    variables: bodyAsInput,
    project: (data) => data.sendMessages,
    answer: z.object({
      accepted: z.array(z.object({ index: z.int(), id: z.uuid() })),
      rejected: z.array(z.object({ index: z.int(), code: z.string(), message: z.string() })),
    }),
  }),
  row('POST', '/messages/:id/cancel', {
    summary: 'Cancel a queued message',
    document: CancelMessage,
    variables: byId,
    project: (data) => data.cancelMessage,
    answer: messageRecord,
  }),
  row('POST', '/messages/:id/read', {
    summary: 'Mark a received message as read',
    document: MarkRead,
    variables: byId,
    project: (data) => data.markRead,
    answer: messageRecord,
  }),
  row('GET', '/messages', {
    summary: 'List messages',
    document: ListMessages,
    query: messagesQuery,
    renames: pageNames,
    variables: ({ query: { limit, cursor, sort, ...filter } }) => ({
      first: limit,
      after: cursor,
      sort,
      filter: filter as never,
    }),
    project: (data) => pageOf('messages', data.messages),
    answer: pageAnswer('messages', messageRecord),
  }),
  row('GET', '/messages/history', {
    summary: 'List the messages to and from one number, newest first',
    document: MessageHistory,
    query: historyQuery,
    renames: pageNames,
    variables: ({ query: { limit, cursor, phone } }) => ({ phone, first: limit, after: cursor }),
    project: (data) => pageOf('messages', data.history),
    answer: pageAnswer('messages', messageRecord),
  }),
  row('GET', '/messages/:id', {
    summary: 'Read a message',
    document: GetMessage,
    variables: byId,
    project: (data) => data.message,
    answer: messageRecord,
  }),
]
