// Imports the templates that the network of an instance approved.
import type { Context } from '../core/context.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { fail, failure } from '../core/errors.ts'
import { writeInPieces } from '../core/idempotency/idempotency.ts'
import { inTime } from '../core/time-limit.ts'
import { providerOf } from '../providers/providers.ts'
import { importTemplates, type TemplateImport } from '../templates/import.ts'
import { findOwnInstance } from './service.ts'
import { refuseLogin } from './state.ts'

/** Longest wait for all pages of the network. */
const readMs = 30_000

/**
 * Makes or changes one template for each that the network approved. A network without such templates has none to import.
 * @throws NOT_FOUND when the instance is not in the workspace; VALIDATION_ERROR when it has no token, because it was logged out;
 * PROVIDER_ERROR when the network refuses, cannot be reached, or does not answer in time. A refused login disconnects the instance.
 */
export async function importFrom(ctx: Context, id: string): Promise<TemplateImport> {
  const { app, principal } = ctx
  const { workspaceId } = principal
  // `writeInPieces` keeps no transaction open during the calls to the network.
  return await writeInPieces(
    ctx,
    async () => {
      const instance = await findOwnInstance(ctx, id)
      const read = providerOf(app, instance.provider)?.approvedTemplates
      if (!read) return { created: 0, updated: 0, skipped: [] }
      const approved = await inTime(readMs, read(instance), () => failure('PROVIDER_ERROR', 'The network did not answer in time'))
      if ('refusedLogin' in approved) {
        await refuseLogin(app, instance, approved.refusedLogin)
        fail('PROVIDER_ERROR', approved.refusedLogin)
      }
      return await sqlTransaction(app.pool, (tx) => importTemplates(tx, workspaceId, approved))
    },
    () => true,
  )
}
