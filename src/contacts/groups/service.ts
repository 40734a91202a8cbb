// Operations on contact groups: create, change, delete, and find the members of several. membership.ts changes who is in them.
import type { Context } from '../../core/context.ts'
import { countedWorkspaces } from '../../core/counted-workspaces.ts'
import type { Tx } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { write } from '../../core/idempotency/idempotency.ts'
import { isTaken } from '../../core/public-failure.ts'
import type { ContactGroup, Prisma } from '../../generated/prisma/client.ts'
import type { Addressee } from '../contacts.sql.ts'
import { tellUpdatedContacts } from '../events.ts'
import type { CreateContactGroup, UpdateContactGroup } from '../input.ts'
import { readGroupAddressees } from './groups.sql.ts'
import { deleteAllMembers } from './membership.sql.ts'
import { lockOwnGroup } from './membership.ts'

/** The groups in all workspaces that count against the plan of that account. */
export async function countGroups(db: Prisma.TransactionClient, ownerId: string): Promise<number> {
  return await db.contactGroup.count({ where: { workspace: countedWorkspaces(ownerId) } })
}

/**
 * Creates an empty group.
 * @throws CONFLICT when the workspace has a group of that name, MAX_CONTACT_GROUPS_REACHED when all workspaces that the plan pays for
 * together have the maximum (exact under concurrency); as `Hooks.lockQuota`.
 */
export async function createGroup(ctx: Context, { name, description }: CreateContactGroup): Promise<ContactGroup> {
  const { workspaceId, ownerId } = ctx.principal
  return await write(ctx, async (tx) => {
    const { maxContactGroups } = await ctx.app.hooks.lockQuota(tx, ctx.principal)
    const data = { id: newId(), workspaceId, name, description }
    const created = await tx.db.contactGroup.create({ data }).catch(refuseName(name))
    const count = await countGroups(tx.db, ownerId)
    if (maxContactGroups !== null && count > maxContactGroups) fail('MAX_CONTACT_GROUPS_REACHED')
    return created
  })
}

/**
 * Changes the given fields.
 * @throws NOT_FOUND when the workspace has no such group, CONFLICT as {@link createGroup}.
 */
export async function updateGroup(ctx: Context, id: string, input: UpdateContactGroup): Promise<ContactGroup> {
  const where = { id, workspaceId: ctx.principal.workspaceId }
  return await write(ctx, async (tx) => {
    const [group] = await tx.db.contactGroup.updateManyAndReturn({ where, data: input }).catch(refuseName(input.name))
    return group ?? fail('NOT_FOUND', 'Contact group not found')
  })
}

/**
 * Deletes the group. Its members stay as contacts.
 * @throws NOT_FOUND when the workspace has no such group.
 */
export async function deleteGroup(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const { workspaceId } = ctx.principal
    await lockOwnGroup(tx, workspaceId, id)
    await deleteAllMembers(tx, id)
    const { membersCount } = await tx.db.contactGroup.delete({ where: { id }, select: { membersCount: true } })
    if (membersCount > 0) await tellUpdatedContacts(tx, workspaceId)
    return { id, deleted: true }
  })
}

/**
 * The distinct members of the groups, oldest contacts first, at most `limit`. `ids` must be distinct.
 * @throws NOT_FOUND when one of them is no group of the workspace.
 */
export async function findGroupAddressees(
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
  limit: number,
): Promise<Addressee[]> {
  if (ids.length === 0) return []
  const count = await tx.db.contactGroup.count({ where: { workspaceId, id: { in: [...ids] } } })
  if (count < ids.length) fail('NOT_FOUND', 'Contact group not found')
  return await readGroupAddressees(tx, ids, limit)
}

function refuseName(name: string | undefined): (error: unknown) => never {
  return (error) => {
    if (isTaken(error)) fail('CONFLICT', `Another group has the name ${name}`)
    throw error
  }
}
