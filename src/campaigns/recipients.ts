// Lists the recipients of a campaign with the state of each, page by page.
import type { Context } from '../core/context.ts'
import { load } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import type { RecipientState } from './policy.ts'
import { type RecipientRow, readRecipients } from './recipients.sql.ts'
import { statsOf } from './stats.ts'

export type RecipientRecord = RecipientRow & { updatedAt: Date }

type Listed = Pick<Campaign, 'id' | 'createdAt' | 'recipientsCount'>

/** A page of all recipients in the order of sending, or of those with `status`. */
export async function pageOfRecipients(
  ctx: Context,
  { id, createdAt, recipientsCount }: Listed,
  { status = null, ...args }: PageArgs & { status?: RecipientState | null },
): Promise<Page<RecipientRecord> & { totalCount: () => number | Promise<number> }> {
  const page = await readPage<RecipientRecord>({
    args,
    binding: ['recipients', id, status],
    field: 'place',
    sortedBy: 'number',
    direction: 'asc',
    find: async (take, place) => {
      const query = { status, place, take }
      const rows = await load(ctx, `recipients ${JSON.stringify(query)}`, id, async (ids) => {
        const found = await readRecipients(ctx.app.pool, ids, query)
        return ids.map((one) => found.get(one) ?? [])
      })
      return rows.map((row) => ({ ...row, updatedAt: row.updatedAt ?? createdAt }))
    },
  })
  const totalCount = async () => (status === null ? recipientsCount : (await statsOf(ctx, id)).stats[status])
  return { ...page, totalCount }
}
