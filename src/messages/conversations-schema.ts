// GraphQL query of conversations.
import { contactOfPhone } from '../contacts/load.ts'
import { ContactRef } from '../contacts/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import {
  type Conversation,
  mostNumbersBackward,
  mostUnread,
  pageOfConversations,
  unreadCount,
  withMessages,
} from './conversations.ts'
import { MessageRef } from './object.ts'

const ConversationRef = builder.objectRef<Conversation>('Conversation').implement({
  description: 'The messages to and from one number. `history` lists them all.',
  fields: (t) => ({
    id: t.exposeID('peer', { description: 'The same as `phone`, for caches.' }),
    phone: t.exposeString('peer', { description: 'The number of the other party, E.164.' }),
    contact: t.field({
      type: ContactRef,
      nullable: true,
      description: 'The contact with this number.',
      resolve: ({ peer }, _, ctx) => contactOfPhone(ctx, peer),
    }),
    lastMessage: t.expose('lastMessage', { type: MessageRef, description: 'The latest message, in either direction.' }),
    lastMessageAt: t.expose('createdAt', { type: 'DateTime', description: 'When the latest message was accepted or received.' }),
    unreadCount: t.int({
      description: `Messages received since the last answer, ${mostUnread} if there are more. The gateway does not know what people have read: a message is unread until one is sent to its number. Messages of campaigns are no answers, and neither are failed and cancelled ones.`,
      resolve: ({ peer }, _, ctx) => unreadCount(ctx, peer),
    }),
  }),
})
const { connection: ConversationConnection } = connectionOf(ConversationRef)

builder.queryField('conversations', (t) =>
  t.connection(
    {
      type: ConversationRef,
      extensions: { page: 20 },
      description: `The numbers that the workspace exchanges messages with, latest message first; 20 a page, at most 100. A page with \`last\` may be refused in a workspace with more than ${mostNumbersBackward.toLocaleString('en')} numbers.`,
      resolve: async (_, args, ctx) => withMessages(ctx, await pageOfConversations(ctx, args)),
    },
    ConversationConnection,
  ),
)
