// GraphQL field Contact.messages.
import { ContactRef } from '../contacts/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { readList } from '../core/graph/list.ts'
import type { Message } from '../generated/prisma/client.ts'
import { messageTable } from './list.ts'
import { MessageConnection, MessageRef } from './object.ts'

builder.prismaObjectField(ContactRef, 'messages', (t) =>
  t.connection(
    {
      type: MessageRef,
      extensions: { page: 20, columns: ['id'] },
      description: 'The messages of the contact, newest first; 20 a page, at most 100.',
      resolve: ({ id }, args, ctx, info) =>
        readList<Message>(ctx, info, args, { table: messageTable, of: ['contactId', id], binding: ['messages of', id] }),
    },
    MessageConnection,
  ),
)
