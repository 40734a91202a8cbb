// SQL of importing templates: the names that are taken, and all new and changed ones in one statement each.
import type { Sql } from '../core/database/database.ts'
import type { CloudTemplate } from './cloud.ts'

export interface ImportedTemplate {
  id: string
  name: string
  body: string
  cloud: CloudTemplate
}

/** Locks all templates of the workspace. */
export async function lockNames(
  tx: Sql,
  workspaceId: string,
): Promise<{ id: string; name: string; cloud: CloudTemplate | null }[]> {
  const text = 'select id, name, cloud from templates where "workspaceId" = $1 order by id for no key update'
  return (await tx.query<{ id: string; name: string; cloud: CloudTemplate | null }>(text, [workspaceId])).rows
}

/** Inserts texts, and leaves out those whose name is taken by now. Returns the ids of the others. */
export async function insertImported(tx: Sql, workspaceId: string, templates: readonly ImportedTemplate[]): Promise<Set<string>> {
  if (templates.length === 0) return new Set()
  const { rows } = await tx.query<{ id: string }>(
    `insert into templates (id, "workspaceId", name, type, body, cloud)
     select u.id, $1, u.name, 'text', u.body, u.cloud from unnest($2::uuid[], $3::text[], $4::text[], $5::jsonb[]) as u(id, name, body, cloud)
     on conflict ("workspaceId", name) do nothing returning id`,
    [
      workspaceId,
      templates.map(({ id }) => id),
      templates.map(({ name }) => name),
      templates.map(({ body }) => body),
      templates.map(({ cloud }) => JSON.stringify(cloud)),
    ],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Stores the texts of locked templates. Their names stay. */
export async function updateImported(tx: Sql, templates: readonly ImportedTemplate[]): Promise<void> {
  if (templates.length === 0) return
  await tx.query(
    `update templates t set type = 'text', body = u.body, "mediaUrl" = null, cloud = u.cloud, "updatedAt" = now()
     from unnest($1::uuid[], $2::text[], $3::jsonb[]) as u(id, body, cloud) where t.id = u.id`,
    [templates.map(({ id }) => id), templates.map(({ body }) => body), templates.map(({ cloud }) => JSON.stringify(cloud))],
  )
}
