// Lists the recipients of a campaign with the state of each, page by page.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { loadFound } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import type { RecipientState } from './policy.ts'
import { countWithError, type RecipientRow, readRecipients } from './recipients.sql.ts'
import { statsOf } from './stats.ts'

export type RecipientRecord = RecipientRow & { updatedAt: Date }

type Listed = Pick<Campaign, 'id' | 'createdAt' | 'recipientsCount'>

/** A page of all recipients in the order of sending, or of those with `status`, and with that `error`. */
export async function pageOfRecipients(
  ctx: Context,
  { id, createdAt, recipientsCount }: Listed,
  { status = null, error = null, ...args }: PageArgs & { status?: RecipientState | null; error?: string | null },
): Promise<Page<RecipientRecord> & { totalCount: () => number | Promise<number> }> {
  if (error !== null && status !== 'failed' && status !== 'cancelled') {
    fail('VALIDATION_ERROR', 'error: is only for the status failed or cancelled')
  }
  const page = await readPage<RecipientRecord>({
    args,
    binding: ['recipients', id, status, ...(error === null ? [] : [error])],
    field: 'place',
    sortedBy: 'number',
    direction: 'asc',
    find: async (take, place) => {
      const query = { status, error, place, take }
      const name = `recipients ${JSON.stringify(query)}`
      const rows = await loadFound(ctx, name, id, [], (ids) => readRecipients(ctx.app.pool, ids, query))
      return rows.map((row) => ({ ...row, updatedAt: row.updatedAt ?? createdAt }))
    },
  })
  const totalCount = async () => {
    if (status === null) return recipientsCount
    if (error === null) return (await statsOf(ctx, id)).stats[status]
    return await countWithError(ctx.app.pool, id, status, error)
  }
  return { ...page, totalCount }
}
