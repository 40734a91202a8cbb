// Operations on contact groups: create, change, delete. Members are managed in membership.ts.
import type { Context } from '../../core/context.ts'
import { countedWorkspaces, holdQuota } from '../../core/database/plan-quota.ts'
import { fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { write } from '../../core/idempotency/idempotency.ts'
import type { ContactGroup } from '../../generated/prisma/client.ts'
import type { CreateContactGroup, UpdateContactGroup } from '../input.ts'

/**
 * Creates an empty group.
 * @throws CONFLICT when the workspace has a group of that name, MAX_CONTACT_GROUPS_REACHED when all workspaces that the plan pays for
 * together have the maximum (exact under concurrency); as {@link holdQuota}.
 */
export async function createGroup(ctx: Context, input: CreateContactGroup): Promise<ContactGroup> {
  const { principal } = ctx
  return await write(ctx, async (tx) => {
    const { maxContactGroups } = await holdQuota(ctx, tx)
    const { rows } = await tx.query<ContactGroup>(
      `insert into contact_groups (id, "workspaceId", name, description) values ($1, $2, $3, $4)
       on conflict ("workspaceId", name) do nothing returning *`,
      [newId(), principal.workspaceId, input.name, input.description ?? null],
    )
    const created = rows[0] ?? taken(input.name)
    const { rows: counted } = await tx.query<{ count: number }>(
      `select count(*)::int as count from contact_groups where "workspaceId" in ${countedWorkspaces}`,
      [principal.ownerId],
    )
    if (maxContactGroups !== null && (counted[0]?.count ?? 0) > maxContactGroups) fail('MAX_CONTACT_GROUPS_REACHED')
    return created
  })
}

/**
 * Changes the given fields.
 * @throws NOT_FOUND when the workspace has no such group, CONFLICT as {@link createGroup}.
 */
export async function updateGroup(ctx: Context, id: string, input: UpdateContactGroup): Promise<ContactGroup> {
  return await write(ctx, async (tx) => {
    const { rows } = await tx
      .query<ContactGroup>(
        `update contact_groups set name = coalesce($3, name), description = case when $4 then $5 else description end, "updatedAt" = now()
         where id = $1 and "workspaceId" = $2 returning *`,
        [id, ctx.principal.workspaceId, input.name ?? null, input.description !== undefined, input.description ?? null],
      )
      .catch((error: { code?: string }) => (error.code === '23505' ? taken(input.name as string) : Promise.reject(error)))
    return rows[0] ?? fail('NOT_FOUND', 'Contact group not found')
  })
}

/**
 * Deletes the group. Its members stay as contacts.
 * @throws NOT_FOUND when the workspace has no such group.
 */
export async function deleteGroup(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const { rowCount } = await tx.query('delete from contact_groups where id = $1 and "workspaceId" = $2', [
      id,
      ctx.principal.workspaceId,
    ])
    return rowCount ? { id, deleted: true } : fail('NOT_FOUND', 'Contact group not found')
  })
}

function taken(name: string): never {
  fail('CONFLICT', `Another group is called ${name}`)
}
