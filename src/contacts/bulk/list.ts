// Reads bulk jobs: one, or pages of a workspace's jobs, newest first. Not by `readList`: the API promises that the cursor of a job is its id.
import type { App } from '../../core/app.ts'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { extentOf, type Page, type PageArgs, pageOf } from '../../core/graph/pagination.ts'
import { parse, uuid } from '../../core/validation.ts'
import { type BulkJobRecord, omit } from './service.ts'

/** @throws NOT_FOUND when the workspace has no such job. */
export async function readBulkJob({ app, principal }: Context, id: string): Promise<BulkJobRecord> {
  return (await find(app, principal.workspaceId, id)) ?? fail('NOT_FOUND', 'Bulk job not found')
}

/** @throws VALIDATION_ERROR when an argument is invalid or a cursor is no job of the workspace; the message names the argument. */
export async function pageOfBulkJobs({ app, principal }: Context, args: PageArgs): Promise<Page<BulkJobRecord>> {
  const { workspaceId } = principal
  const extent = extentOf(args)
  const place = async (name: 'after' | 'before', side: 'lt' | 'gt') => {
    if (args[name] == null) return []
    const id = parse(uuid, args[name], name)
    const { createdAt } = (await find(app, workspaceId, id)) ?? fail('VALIDATION_ERROR', `${name}: is not a job of this list`)
    return [{ OR: [{ createdAt: { [side]: createdAt } }, { createdAt, id: { [side]: id } }] }]
  }
  const order = extent.backward ? 'asc' : 'desc'
  const rows = await app.db.bulkJob.findMany({
    where: { workspaceId, AND: [...(await place('after', 'lt')), ...(await place('before', 'gt'))] },
    orderBy: [{ createdAt: order }, { id: order }],
    take: extent.size + 1,
    omit,
  })
  return pageOf(args, extent, rows as BulkJobRecord[], ({ id }) => id)
}

async function find(app: App, workspaceId: string, id: string): Promise<BulkJobRecord | null> {
  return (await app.db.bulkJob.findFirst({ where: { id, workspaceId }, omit })) as BulkJobRecord | null
}
