// Reads stored templates: one of the workspace, or those that many messages refer to.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Template } from '../generated/prisma/client.ts'

const columns = 'id, "workspaceId", name, type, body, "mediaUrl", "createdAt", "updatedAt"'

/** @throws NOT_FOUND when the workspace has no such template */
export async function findTemplate(ctx: Context, tx: Sql, id: string, lock = ''): Promise<Template> {
  const { rows } = await tx.query<Template>(`select ${columns} from templates where id = $1 and "workspaceId" = $2 ${lock}`, [
    id,
    ctx.principal.workspaceId,
  ])
  return rows[0] ?? fail('NOT_FOUND', 'Template not found')
}

/** Templates of any workspace by their ids, in one query. The caller must compare `workspaceId`. */
export async function readTemplates(sql: Sql, ids: readonly string[]): Promise<Map<string, Template>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql.query<Template>({
    name: 'templates.read',
    text: `select ${columns} from templates where id = any($1::uuid[])`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}
