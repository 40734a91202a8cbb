// Lists messages by keyset pagination. Reads only the columns that the GraphQL selection needs.
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../core/context.ts'
import { keyset, type Page, type PageArgs, type Place, readPage } from '../core/graph/pagination.ts'
import { pagePaths, planSelection, selectRows } from '../core/graph/select.sql.ts'
import { tableOf } from '../core/graph/table.ts'
import type { Message, Prisma } from '../generated/prisma/client.ts'

const table = tableOf('Message', 'messages', {
  instance: tableOf('Instance', 'instances'),
  contact: tableOf('Contact', 'contacts'),
})

export interface MessageFilter {
  /** Columns that must equal a value. */
  equal: Readonly<Partial<Record<keyof Message, string>>>
  createdFrom?: Date
  createdTo?: Date
}

/** Reads a page of the workspace's messages by `createdAt`. `totalCount` runs its query only when called. */
export async function listMessages(
  ctx: Context,
  info: GraphQLResolveInfo,
  args: PageArgs,
  filter: MessageFilter,
  direction: 'asc' | 'desc',
): Promise<Page<Message> & { totalCount: () => Promise<number> }> {
  const { db } = ctx.app
  const selection = planSelection(info, table, pagePaths, ['id', 'createdAt'])
  const scope = { workspaceId: ctx.principal.workspaceId, ...filter.equal }
  const where = { ...scope, ...createdWithin(filter) } as Prisma.MessageWhereInput
  const page = await readPage<Message>({
    args,
    binding: ['messages', where, direction],
    field: 'createdAt',
    direction,
    find: async (page, place) => {
      if (!selection) {
        const query = queryFromInfo({ context: ctx, info, paths: pagePaths, typeName: 'Message' })
        return (await db.message.findMany({ ...query, ...page, where: { AND: [where, page.where] } })) as never
      }
      const read = isShort(filter) ? ctx.app.shortRead : ctx.app.longRead
      return await selectRows<Message>(read, { table, selection, ...bounded(scope, filter, place), take: page.take })
    },
  })
  return { ...page, totalCount: () => db.message.count({ where }) }
}

/** True if an index returns the rows in page order, so the query reads one page only. */
function isShort({ equal }: MessageFilter): boolean {
  return Object.keys(equal).every((column) => column === 'peer')
}

function createdWithin({ createdFrom, createdTo }: MessageFilter): object {
  if (!createdFrom && !createdTo) return {}
  return { createdAt: { ...(createdFrom && { gte: createdFrom }), ...(createdTo && { lt: createdTo }) } }
}

function bounded(scope: Readonly<Record<string, string>>, { createdFrom, createdTo }: MessageFilter, place: Place) {
  const values: unknown[] = []
  const where = [
    ...Object.entries(scope).map(([column, value]) => `t."${column}" = $${values.push(value)}`),
    ...(createdFrom ? [`t."createdAt" >= $${values.push(createdFrom)}`] : []),
    ...(createdTo ? [`t."createdAt" < $${values.push(createdTo)}`] : []),
    ...keyset(place, 't."createdAt"', 't.id', values),
  ]
  return { where, values, orderBy: `t."createdAt" ${place.order}, t.id ${place.order}` }
}
