// GraphQL field Contact.messages: one statement reads the pages of all contacts of a request (batching against N+1 queries).

import type { GraphQLResolveInfo } from 'graphql'
import { ContactRef } from '../contacts/schema.ts'
import type { Context } from '../core/context.ts'
import { builder } from '../core/graph/builder.ts'
import { load } from '../core/graph/load.ts'
import { keyset, type Page, type PageArgs, type Place, readPage } from '../core/graph/pagination.ts'
import { pageColumns } from '../core/graph/select.ts'
import { tableOf } from '../core/graph/table.ts'
import type { Message } from '../generated/prisma/client.ts'
import { MessageRef } from './object.ts'

/** Holds no relations, because data loaders read them. */
const table = tableOf('Message', 'messages')

builder.prismaObjectField(ContactRef, 'messages', (t) =>
  t.connection({
    type: MessageRef,
    extensions: { page: 20, columns: ['id'] },
    description: 'The messages of the contact, newest first; 20 a page, at most 100.',
    resolve: (contact, args, ctx, info) => messagesOf(ctx, info, contact.id, args),
  }),
)

async function messagesOf(ctx: Context, info: GraphQLResolveInfo, contactId: string, args: PageArgs): Promise<Page<Message>> {
  const columns = pageColumns(info, table, ['id', 'createdAt', 'contactId'], 'm')
  return await readPage<Message>({
    args,
    binding: ['messages of', contactId],
    field: 'createdAt',
    direction: 'desc',
    find: ({ take }, place) =>
      load(ctx, `messages ${columns} ${JSON.stringify({ take, place })}`, contactId, (ids) =>
        readMessages(ctx, columns, ids, take, place),
      ),
  })
}

async function readMessages(
  ctx: Context,
  columns: string,
  contactIds: readonly string[],
  take: number,
  place: Place,
): Promise<Message[][]> {
  const values: unknown[] = [contactIds]
  const conditions = ['"contactId" = c.id', ...keyset(place, '"createdAt"', 'm.id', values)]
  const { rows } = await ctx.app.pool.query<Message>(
    `select r.* from unnest($1::uuid[]) as c(id) cross join lateral (
       select ${columns} from messages m where ${conditions.join(' and ')}
       order by "createdAt" ${place.order}, m.id ${place.order} limit $${values.push(take)}
     ) r order by r."createdAt" ${place.order}, r.id ${place.order}`,
    values,
  )
  const byContact = Map.groupBy(rows, (row) => row.contactId)
  return contactIds.map((id) => byContact.get(id) ?? [])
}
