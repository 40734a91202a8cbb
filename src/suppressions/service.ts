// Operations on the do-not-contact list: add and take out; and the error code that other domains use.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import type { Suppression } from '../generated/prisma/client.ts'
import { deleteSuppressions, insertSuppressions } from './suppressions.sql.ts'

/** Error code of a message that its recipient does not want. */
export const suppressed = 'RECIPIENT_SUPPRESSED'

export interface Added extends Suppression {
  /** True if the number was in the list before. */
  existing: boolean
}

/** Adds a number. If it is in the list already, its record stays as it is. */
export async function createSuppression(ctx: Context, { phone }: { phone: string }): Promise<Added> {
  const { workspaceId } = ctx.principal
  return await write(ctx, async (tx): Promise<Added> => {
    for (;;) {
      const [added] = await insertSuppressions(tx, [{ workspaceId, phone }], 'manual')
      if (added) return { ...added, existing: false }
      const before = await tx.db.suppression.findUnique({ where: { workspaceId_phone: { workspaceId, phone } } })
      // Between the two statements it may have been taken out.
      if (before) return { ...before, existing: true }
    }
  })
}

/** @throws NOT_FOUND when the number is not in the list. */
export async function deleteSuppression(ctx: Context, phone: string): Promise<{ phone: string; deleted: true }> {
  const numbers = [{ workspaceId: ctx.principal.workspaceId, phone }]
  return await write(ctx, async (tx) => {
    const count = await deleteSuppressions(tx, numbers)
    return count > 0 ? { phone, deleted: true } : fail('NOT_FOUND', 'The number is not suppressed')
  })
}
