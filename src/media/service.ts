// What can be done with media: keep an uploaded file, find one, delete one, remove what was left behind.
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import { transaction } from '../core/database/database.ts'
import { holdQuota } from '../core/database/plan-quota.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { acceptedBefore, write } from '../core/idempotency/idempotency.ts'
import type { Media } from '../generated/prisma/client.ts'
import type { SavedFile } from './form.ts'
import { type MediaType, mediaTypes } from './kinds.ts'
import { quotaLeft } from './quota.ts'
import { newToken, readName } from './url.ts'

/**
 * Keeps a file that has come whole: durable when this answers. Its row comes before its bytes, so that what a crash leaves
 * is found by the row; and it is nobody's until both are there.
 * @throws MEDIA_STORAGE_EXCEEDED, exact under a race; as {@link holdQuota}.
 */
export async function addMedia(ctx: Context, file: SavedFile, type: MediaType): Promise<Media> {
  const { app } = ctx
  // A repeated request finds its answer also where there is no room for the file again.
  const [before] = await acceptedBefore<Media>([ctx])
  if (before) return before
  const id = await reserve(ctx, file, type)
  try {
    await app.failpoint('media.before_put')
    await app.media.put(id, file.path, file.size)
    await app.failpoint('media.after_put')
    const media = await write(ctx, async (tx) => {
      const { rows } = await tx.query<Media>(
        'update media set "storedAt" = now() where id = $1 and "removedAt" is null returning *',
        [id],
      )
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

/** Inserts the row of a file that is to be stored, which counts against the plan from then on. */
async function reserve(ctx: Context, { size }: SavedFile, { mimeType }: MediaType): Promise<string> {
  const { app, principal } = ctx
  const id = newId()
  await transaction(app.pool, async (tx) => {
    const limits = await holdQuota(ctx, tx)
    if (size > (await quotaLeft(tx, principal.ownerId, limits))) fail('MEDIA_STORAGE_EXCEEDED')
    await tx.query('insert into media (id, "workspaceId", token, "mimeType", size) values ($1, $2, $3, $4, $5)', [
      id,
      principal.workspaceId,
      newToken(),
      mimeType,
      size,
    ])
  })
  return id
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

/**
 * Deletes a file: nobody reads it any more when this answers. Its bytes go after that, or with the next sweep where the store
 * does not answer, and count until then. A message that names it and has not left fails when the network cannot read it.
 * @throws NOT_FOUND.
 */
export async function deleteMedia(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  const { app, principal } = ctx
  const deleted = await write(ctx, async (tx) => {
    const { rowCount } = await tx.query(
      'update media set "storedAt" = null, "removedAt" = now() where id = $1 and "workspaceId" = $2 and "storedAt" is not null',
      [id, principal.workspaceId],
    )
    return rowCount ? ({ id, deleted: true } as const) : fail('NOT_FOUND', 'Media not found')
  })
  await app.failpoint('media.before_remove')
  await clear(app, id).catch((err: Error) => app.log.warn({ media: id, err }, 'the bytes of a deleted file are removed later'))
  return deleted
}

/** Deletes every file of a workspace that has ended; to be called again where it throws. */
export async function deleteAllMedia(app: App, workspaceId: string): Promise<void> {
  await app.pool.query('update media set "storedAt" = null, "removedAt" = now() where "workspaceId" = $1', [workspaceId])
  for (;;) {
    const { rows } = await app.pool.query<{ id: string }>(
      'select id from media where "workspaceId" = $1 and "removedAt" is not null limit $2',
      [workspaceId, pageSize],
    )
    for (const { id } of rows) await clear(app, id)
    if (rows.length < pageSize) return
  }
}

const pageSize = 500

/** Before every id. */
const noId = '00000000-0000-0000-0000-000000000000'
/** Uploads that are this old and not finished never will be. */
const abandonedAfterHours = 2

/** Removes what uploads left that nobody was told of, and what deletions left; answers how many files there were. */
export async function sweepMedia(app: App): Promise<number> {
  let swept = 0
  for (let after = noId; ; ) {
    const { rows } = await app.pool.query<{ id: string }>(
      `select id from media where "storedAt" is null and id > $3
         and ("removedAt" is not null or "createdAt" < now() - make_interval(hours => $1)) order by id limit $2`,
      [abandonedAfterHours, pageSize, after],
    )
    for (const { id } of rows) {
      // One that the store does not let go keeps no other.
      await discard(app, id).then(
        () => swept++,
        (err: Error) => app.log.warn({ err, media: id }, 'a file could not be removed; it is tried again with the next sweep'),
      )
    }
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return swept
    after = last.id
  }
}

/** Removes a file that was not stored to its end; one whose end nobody heard of stays whole. */
async function discard(app: App, id: string): Promise<void> {
  // Waits for a transaction that stores it, and keeps every later one from it.
  const { rowCount } = await app.pool.query('update media set "removedAt" = now() where id = $1 and "storedAt" is null', [id])
  if (rowCount) await clear(app, id)
}

/** Removes the bytes of a file that is to go, and then its row, so that what fails in between is found again. */
async function clear(app: App, id: string): Promise<void> {
  await app.media.remove(id)
  await app.pool.query('delete from media where id = $1 and "removedAt" is not null', [id])
}
