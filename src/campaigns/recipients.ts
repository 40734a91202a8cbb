// Lists the recipients of a campaign with the state of each: page by page, and all of them as CSV.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../core/context.ts'
import type { Cell } from '../core/csv.ts'
import { fail } from '../core/errors.ts'
import { load } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import { sendCsv } from '../core/http/csv-answer.ts'
import { parse, uuid } from '../core/validation.ts'
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

const columns = ['to', 'contactId', 'messageId', 'status', 'error', 'updatedAt'] as const
/** Rows that are in memory at a time. */
const chunkSize = 500

/**
 * Answers `GET campaigns/{id}/recipients.csv`.
 * @throws VALIDATION_ERROR when the id is malformed, NOT_FOUND when the workspace has no such campaign.
 */
export async function exportRecipients(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  const id = parse(uuid, (request.params as { id: string }).id, 'id')
  const where = { id, workspaceId: ctx.principal.workspaceId }
  const campaign = await ctx.app.db.campaign.findFirst({ where, select: { id: true, createdAt: true } })
  if (!campaign) fail('NOT_FOUND', 'Campaign not found')
  return await sendCsv(request, reply, { name: `recipients-${id}`, columns, pages: chunksOf(ctx, campaign) })
}

async function* chunksOf(ctx: Context, { id, createdAt }: Pick<Campaign, 'id' | 'createdAt'>): AsyncGenerator<Cell[][]> {
  let last: RecipientRow | undefined
  do {
    const bounds = last ? [{ than: 'gt' as const, value: last.place, id }] : []
    const query = { status: null, place: { order: 'asc' as const, bounds }, take: chunkSize }
    const rows = (await readRecipients(ctx.app.pool, [id], query)).get(id) ?? []
    yield rows.map((row) => columns.map((name) => (name === 'updatedAt' ? (row.updatedAt ?? createdAt) : row[name])))
    last = rows.length === chunkSize ? rows.at(-1) : undefined
  } while (last)
}
