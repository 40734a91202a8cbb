// What can be done with media: keep an uploaded file, find one, remove what an upload that broke off left behind.
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import { transaction } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency.ts'
import type { Media } from '../generated/prisma/client.ts'
import type { SavedFile } from './form.ts'
import { type MediaType, mediaTypes } from './kinds.ts'
import { newToken, readName } from './url.ts'

/**
 * Keeps a file that has come whole: durable when this answers. Its row comes before its bytes, so that what a crash leaves
 * is found by the row; and it is nobody's until both are there.
 */
export async function addMedia(ctx: Context, file: SavedFile, type: MediaType): Promise<Media> {
  const { app, principal } = ctx
  const id = newId()
  await app.pool.query('insert into media (id, "workspaceId", token, "mimeType", size) values ($1, $2, $3, $4, $5)', [
    id,
    principal.workspaceId,
    newToken(),
    type.mimeType,
    file.size,
  ])
  try {
    await app.failpoint('media.before_put')
    await app.media.put(id, file.path, file.size)
    await app.failpoint('media.after_put')
    const media = await write(ctx, async (tx) => {
      const { rows } = await tx.query<Media>('update media set "storedAt" = now() where id = $1 returning *', [id])
      return rows[0] ?? fail('SERVICE_UNAVAILABLE')
    })
    await app.failpoint('api.after_commit_before_reply')
    // A repeated request is answered with what the first one stored.
    if (media.id !== id) await discard(app, id)
    return media
  } catch (error) {
    // What this cannot remove either, the sweep does.
    await discard(app, id).catch(() => {})
    throw error
  }
}

/** A file of the workspace. @throws NOT_FOUND. */
export async function findMedia({ app, principal }: Context, id: string): Promise<Media> {
  const where = { id, workspaceId: principal.workspaceId, storedAt: { not: null } }
  return (await app.db.media.findFirst({ where })) ?? fail('NOT_FOUND', 'Media not found')
}

/** The file whose public address ends in `name`. @throws NOT_FOUND. */
export async function findByName(app: App, name: string): Promise<Media> {
  const { token, extension } = readName(name) ?? {}
  const media = token ? await app.db.media.findFirst({ where: { token, storedAt: { not: null } } }) : null
  if (!media || mediaTypes.get(media.mimeType)?.extension !== extension) fail('NOT_FOUND', 'Media not found')
  return media
}

/** Uploads that are this old and not finished never will be. */
const abandonedAfterHours = 2

/** Removes what uploads left that nobody was told of; answers how many there were. */
export async function sweepMedia(app: App): Promise<number> {
  const { rows } = await app.pool.query<{ id: string }>(
    `select id from media where "storedAt" is null and "createdAt" < now() - make_interval(hours => $1)`,
    [abandonedAfterHours],
  )
  let removed = 0
  for (const { id } of rows) {
    // One that the store does not let go keeps no other.
    await discard(app, id).then(
      () => removed++,
      (err: Error) => app.log.warn({ err, media: id }, 'what an upload left could not be removed; it is tried again later'),
    )
  }
  return removed
}

/** Removes a file that was not stored to its end, the row last; one whose end nobody heard of stays whole. */
async function discard(app: App, id: string): Promise<void> {
  await transaction(app.pool, async (tx) => {
    const { rowCount } = await tx.query('delete from media where id = $1 and "storedAt" is null', [id])
    if (rowCount) await app.media.remove(id)
  })
}
