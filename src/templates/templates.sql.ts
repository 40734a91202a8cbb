// SQL of templates: the lock of one, and the read of those that many messages refer to.
import type { Sql } from '../core/database/database.ts'
import type { Template } from '../generated/prisma/client.ts'
import type { CloudTemplate } from './cloud.ts'

const columns = 'id, "workspaceId", name, type, body, "mediaUrl", cloud, "createdAt", "updatedAt"'

/** Waits until no other transaction adds a template to this workspace, so that their number is exact (advisory lock until the end). */
export async function lockNewTemplates(tx: Sql, workspaceId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('templates ' || $1, 0))`, [workspaceId])
}

/** Locks a template of the workspace for a change that depends on its present content; undefined if there is none. */
export async function lockTemplate(tx: Sql, id: string, workspaceId: string): Promise<Template | undefined> {
  const text = `select ${columns} from templates where id = $1 and "workspaceId" = $2 for no key update`
  return (await tx.query<Template>(text, [id, workspaceId])).rows[0]
}

export type TemplateChanges = Pick<Template, 'name' | 'type' | 'body' | 'mediaUrl'> & { cloud: CloudTemplate | null }

/** Stores the content of a locked template, and returns its row. @throws a unique violation when the name is taken. */
export async function storeTemplate(
  tx: Sql,
  id: string,
  { name, type, body, mediaUrl, cloud }: TemplateChanges,
): Promise<Template> {
  const { rows } = await tx.query<Template>(
    `update templates set name = $2, type = $3, body = $4, "mediaUrl" = $5, cloud = $6, "updatedAt" = now() where id = $1 returning ${columns}`,
    [id, name, type, body, mediaUrl, cloud && JSON.stringify(cloud)],
  )
  return rows[0] as Template
}

/** Templates of any workspace by their ids, in one prepared statement for a whole batch of messages. The caller compares `workspaceId`. */
export async function readTemplates(sql: Sql, ids: readonly string[]): Promise<Map<string, Template>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql.query<Template>({
    name: 'templates.read',
    text: `select ${columns} from templates where id = any($1::uuid[])`,
    values: [ids],
  })
  return new Map(rows.map((row) => [row.id, row]))
}
