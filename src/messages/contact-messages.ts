// The messages of contacts in the graph: the pages of any number of contacts in one statement.

import { ContactRef } from '../contacts/schema.ts'
import { builder } from '../core/builder.ts'
import type { Context } from '../core/context.ts'
import { load } from '../core/load.ts'
import { keyset, type Page, type PageArgs, type Place, readPage } from '../core/pagination.ts'
import type { Message } from '../generated/prisma/client.ts'
import { MessageRef } from './object.ts'

builder.prismaObjectField(ContactRef, 'messages', (t) =>
  t.connection({
    type: MessageRef,
    description: 'The messages about it, newest first; 20 a page, at most 100.',
    resolve: (contact, args, ctx) => messagesOf(ctx, contact.id, args),
  }),
)

async function messagesOf(ctx: Context, contactId: string, args: PageArgs): Promise<Page<Message>> {
  return await readPage<Message>({
    args,
    binding: ['messages of', contactId],
    field: 'createdAt',
    direction: 'desc',
    find: ({ take }, place) =>
      load(ctx, `messages ${JSON.stringify({ take, place })}`, contactId, (ids) => readMessages(ctx, ids, take, place)),
  })
}

async function readMessages(ctx: Context, contactIds: readonly string[], take: number, place: Place): Promise<Message[][]> {
  const values: unknown[] = [contactIds]
  const conditions = ['"contactId" = c.id', ...keyset(place, '"createdAt"', 'm.id', values)]
  const { rows } = await ctx.app.pool.query<Message>(
    `select r.* from unnest($1::uuid[]) as c(id) cross join lateral (
       select m.* from messages m where ${conditions.join(' and ')}
       order by "createdAt" ${place.order}, m.id ${place.order} limit $${values.push(take)}
     ) r order by r."createdAt" ${place.order}, r.id ${place.order}`,
    values,
  )
  const byContact = Map.groupBy(rows, (row) => row.contactId)
  return contactIds.map((id) => byContact.get(id) ?? [])
}
