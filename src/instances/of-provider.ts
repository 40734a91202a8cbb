// Instances as their providers ask for them.
import type { App } from '../core/app.ts'
import { createBatch } from '../core/batch.ts'
import type { Sql } from '../core/database/database.ts'
import { definePart } from '../core/part.ts'
import { uuid } from '../core/validation.ts'
import type { ProviderName, StoredInstance } from '../providers/provider.ts'
import { type ProviderRow, readOfProvider } from './instances.sql.ts'

/**
 * Every post of a network asks for its instance. Those of one moment share a statement: by Prisma, a post with one status took 2.1 ms of
 * processor time in place of 1.4.
 */
const found = definePart((app) =>
  createBatch<string, ProviderRow | undefined>({
    max: 200,
    parallel: 2,
    async run(ids) {
      const rows = await readOfProvider(app.pool, ids)
      return ids.map((id) => rows.get(id))
    },
  }),
)

/** Finds an instance of a provider, in any workspace. `id` may be any text. With `tx`, as that transaction sees it. */
export async function findInstance(app: App, provider: ProviderName, id: string, tx?: Sql): Promise<StoredInstance | undefined> {
  if (!uuid.safeParse(id).success) return undefined
  const key = id.toLowerCase()
  const row = tx ? (await readOfProvider(tx, [key])).get(key) : await found(app)(key)
  return row?.provider === provider ? row : undefined
}

/** The other instances of a provider in the workspace of the instance `id` whose setting `name` has that value. */
export async function findSiblings(
  { db }: App,
  provider: ProviderName,
  id: string,
  { name, value }: { name: string; value: string },
): Promise<StoredInstance[]> {
  const found = await db.instance.findUnique({ where: { id }, select: { workspaceId: true } })
  if (!found) return []
  const where = {
    workspaceId: found.workspaceId,
    provider,
    deletedAt: null,
    id: { not: id },
    settings: { path: [name], equals: value },
  }
  const select = { id: true, waNumber: true, settings: true, credentials: true }
  return await db.instance.findMany({ where, select, orderBy: { id: 'asc' } })
}
