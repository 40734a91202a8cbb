// Instances of every workspace, for the operator.
import type { Db } from '../core/database/database.ts'
import type { Instance } from '../generated/prisma/client.ts'

/** Oldest first, each with the address of the owner of its workspace. */
export async function listAllInstances(db: Db) {
  const rows = await db.instance.findMany({
    where: { deletedAt: null },
    select: {
      ...{ id: true, name: true, provider: true, waNumber: true, status: true, lastError: true, createdAt: true },
      user: { select: { email: true } },
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return rows.map(({ user, ...row }) => ({ ...row, owner: user.email }))
}

export async function findAnyInstance(db: Db, id: string): Promise<Instance | null> {
  return await db.instance.findFirst({ where: { id, deletedAt: null } })
}
