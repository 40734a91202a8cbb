// Stores an uploaded file once for each Idempotency-Key, also when the same request runs twice at the same time.
import type { Context } from '../core/context.ts'
import { codeOf, fail } from '../core/errors.ts'
import { acceptedBefore, write } from '../core/idempotency/idempotency.ts'
import type { Media } from '../generated/prisma/client.ts'
import type { SavedFile } from './form.ts'
import type { MediaType } from './kinds.ts'
import { addFile } from './service.ts'

/**
 * Stores a file that was received completely. It is durable when this resolves.
 * @throws MEDIA_STORAGE_EXCEEDED when the quota is used up (exact under concurrency), IDEMPOTENCY_IN_PROGRESS when the same request may have
 * just taken the rest of it; as `Hooks.lockQuota`.
 */
export async function addMedia(ctx: Context, file: SavedFile, type: MediaType): Promise<Media> {
  const { app, principal } = ctx
  // A repeated request gets its first result even if the quota has no capacity for the file again.
  const [before] = await acceptedBefore<Media>([ctx])
  if (before) return before
  try {
    return await addFile(app, principal, file, type, {
      limits: (tx) => app.hooks.lockQuota(tx, principal),
      commit: (store) => write(ctx, store),
    })
  } catch (error) {
    if (!ctx.idempotency || codeOf(error) !== 'MEDIA_STORAGE_EXCEEDED') throw error
    // The refusal would be stored under the key, and would end the request that is storing the file.
    const { workspaceId } = principal
    const unstored = { workspaceId, size: file.size, mimeType: type.mimeType, storedAt: null, removedAt: null }
    if ((await app.db.media.count({ where: unstored })) > 0) fail('IDEMPOTENCY_IN_PROGRESS')
    const [meanwhile] = await acceptedBefore<Media>([ctx])
    if (meanwhile) return meanwhile
    throw error
  }
}
