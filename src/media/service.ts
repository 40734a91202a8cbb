// Operations on media: store a file, find one, delete one, remove leftovers.
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { untilStored } from '../core/database/until-stored.ts'
import { hourMs } from '../core/durations.ts'
import { fail } from '../core/errors.ts'
import { newId, nilId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import type { PlanLimits } from '../core/principal.ts'
import { isUnavailable } from '../core/public-failure.ts'
import type { Media } from '../generated/prisma/client.ts'
import type { StoredFile } from '../providers/provider.ts'
import type { SavedFile } from './form.ts'
import { type MediaType, mediaTypes } from './kinds.ts'
import { markSomeRemoved, readStored } from './media.sql.ts'
import { mediaStore } from './open-store.ts'
import { quotaLeft } from './quota.ts'
import { nameIn, newToken, readName } from './url.ts'

interface Adding {
  /** Locks the subscription that pays, and returns the limits of its plan. */
  limits: (tx: Tx) => Promise<PlanLimits>
  /** Runs the last step in a transaction. Returns the file that counts, which may be another one that was stored before. */
  commit: (store: (tx: Tx) => Promise<Media>) => Promise<Media>
}

/**
 * Stores a file. The row is written before the bytes, so that leftovers of a crash are found by the row. The file can be found only once
 * both exist.
 * @throws MEDIA_STORAGE_EXCEEDED when the quota is used up (exact under concurrency); as the calls of `adding`.
 */
export async function addFile(
  app: App,
  owner: { workspaceId: string; ownerId: string },
  file: Pick<SavedFile, 'path' | 'size'>,
  type: MediaType,
  { limits, commit }: Adding,
): Promise<Media> {
  const id = newId()
  try {
    await reserve(app, owner, { id, size: file.size, type, limits })
  } catch (error) {
    // The row may be there although the answer was lost.
    if (isUnavailable(error)) await discardSoon(app, id)
    throw error
  }
  try {
    await app.failpoint('media.before_put')
    await mediaStore(app).put(id, file.path, file.size)
    await app.failpoint('media.after_put')
    const media = await commit(async (tx) => {
      const where = { id, removedAt: null }
      const [stored] = await tx.db.media.updateManyAndReturn({ where, data: { storedAt: new Date() } })
      return stored ?? fail('SERVICE_UNAVAILABLE')
    })
    await app.failpoint('api.after_commit_before_reply')
    // A repeated request gets the file that the first one stored.
    if (media.id !== id) await discard(app, id)
    return media
  } catch (error) {
    await discardSoon(app, id)
    throw error
  }
}

/** Inserts the row of a file to store, which counts against the quota from then on. */
async function reserve(
  app: App,
  { workspaceId, ownerId }: { workspaceId: string; ownerId: string },
  { id, size, type, limits }: { id: string; size: number; type: MediaType; limits: Adding['limits'] },
): Promise<void> {
  await transaction(app.db, async (tx) => {
    if (size > (await quotaLeft(tx.db, ownerId, await limits(tx)))) fail('MEDIA_STORAGE_EXCEEDED')
    await tx.db.media.create({ data: { id, workspaceId, token: newToken(), mimeType: type.mimeType, size } })
  })
}

/**
 * Returns a file of the workspace.
 * @throws NOT_FOUND when the workspace has no such file.
 */
export async function findMedia({ app, principal }: Context, id: string): Promise<Media> {
  const where = { id, workspaceId: principal.workspaceId, storedAt: { not: null } }
  return (await app.db.media.findFirst({ where })) ?? fail('NOT_FOUND', 'Media not found')
}

/**
 * Returns the file whose public URL ends in `name`.
 * @throws NOT_FOUND when there is none.
 */
export async function findByName(app: App, name: string): Promise<Media> {
  return (await fileNamed(app, name)) ?? fail('NOT_FOUND', 'Media not found')
}

/** The file whose public URL ends in `name`; null if there is none. */
async function fileNamed(app: App, name: string): Promise<Media | null> {
  const { token, extension } = readName(name) ?? {}
  const media = token ? await app.db.media.findFirst({ where: { token, storedAt: { not: null } } }) : null
  return media && mediaTypes.get(media.mimeType)?.extension === extension ? media : null
}

/** The file behind a media address of this gateway; null if there is none, undefined for every other address. */
export async function fileAt(app: App, url: string): Promise<StoredFile | null | undefined> {
  const name = nameIn(url, app.config)
  if (!name) return undefined
  const media = await fileNamed(app, name)
  if (!media) return null
  const { id, mimeType, size } = media
  const { extension } = mediaTypes.get(mimeType) as MediaType
  return { id, mimeType, size, extension, open: () => mediaStore(app).read(id, { start: 0, end: size - 1 }) }
}

/**
 * The MIME types of the files behind those of `urls` that are media addresses of this gateway; null for one without a file. Without such
 * addresses it reads nothing.
 */
export async function typesOfFiles(app: App, sql: Sql, urls: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
  const named = new Map(
    urls.flatMap((url) => {
      const name = readName(nameIn(url, app.config) ?? '')
      return name ? [[url, name] as const] : []
    }),
  )
  if (named.size === 0) return new Map()
  const stored = await readStored(
    sql,
    [...named.values()].map(({ token }) => token),
  )
  return new Map(
    [...named].map(([url, { token, extension }]) => {
      const type = mediaTypes.get(stored.get(token) ?? '')
      return [url, type?.extension === extension ? type.mimeType : null]
    }),
  )
}

/** The media addresses of this gateway among `urls` that lead to no file. Without such addresses it reads nothing. */
export async function urlsWithoutFile(app: App, sql: Sql, urls: readonly string[]): Promise<ReadonlySet<string>> {
  const types = await typesOfFiles(app, sql, urls)
  return new Set([...types].flatMap(([url, type]) => (type === null ? [url] : [])))
}

/**
 * Deletes a file; it cannot be found when this resolves. Its bytes are removed after that, or by the next sweep if the store fails, and
 * count against the quota until then. An unsent message with its URL fails when the network cannot read it.
 * @throws NOT_FOUND when the workspace has no such file.
 */
export async function deleteMedia(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  const { app, principal } = ctx
  const deleted = await write(ctx, async (tx) => {
    const where = { id, workspaceId: principal.workspaceId, storedAt: { not: null } }
    const { count } = await tx.db.media.updateMany({ where, data: { storedAt: null, removedAt: new Date() } })
    return count > 0 ? ({ id, deleted: true } as const) : fail('NOT_FOUND', 'Media not found')
  })
  await app.failpoint('media.before_remove')
  await clear(app, id).catch((err: Error) => app.log.warn({ media: id, err }, 'the bytes of a deleted file are removed later'))
  return deleted
}

/** Removes the bytes of files that are marked as removed, and then their rows. */
export async function clearRemoved(app: App, ids: readonly string[]): Promise<void> {
  for (const id of ids) await clear(app, id)
}

/** Files that one statement marks as removed: far fewer than fit within its time limit. */
const markedAtOnce = 20_000

/**
 * Deletes some files of a workspace that has ended, and returns true if none is left. Nobody finds any of them before the first one is removed. If
 * it throws, call it again: the store is away, or fails to remove all that are left.
 */
export async function deleteSomeMedia(app: App, workspaceId: string): Promise<boolean> {
  if ((await markSomeRemoved(app.pool, workspaceId, markedAtOnce)) === markedAtOnce) return false
  const where = { workspaceId, removedAt: { not: null } }
  const rows = await app.db.media.findMany({ where, take: pageSize, select: { id: true } })
  const faults: Error[] = []
  for (const { id } of rows) {
    await clear(app, id).catch((error: Error) => {
      if (isUnavailable(error)) throw error
      // A file that the store fails to remove does not block the others.
      faults.push(error)
    })
  }
  if (faults.length > 0 && (rows.length < pageSize || faults.length === rows.length)) throw faults[0]
  return rows.length < pageSize
}

const pageSize = 500

/** An upload of this age that is not finished never will be. */
const abandonedAfterMs = 2 * hourMs

/** Removes the leftovers of abandoned uploads and of deletions. Returns the number of files. */
export async function sweepMedia(app: App): Promise<number> {
  let swept = 0
  for (let after = nilId; ; ) {
    const createdAt = { lt: new Date(Date.now() - abandonedAfterMs) }
    const rows = await app.db.media.findMany({
      where: { storedAt: null, id: { gt: after }, OR: [{ removedAt: { not: null } }, { createdAt }] },
      orderBy: { id: 'asc' },
      take: pageSize,
      select: { id: true },
    })
    for (const { id } of rows) {
      if (app.stopping) return swept
      // A file that the store fails to remove does not block the others.
      await discard(app, id).then(
        () => swept++,
        (err: Error) => app.log.warn({ err, media: id }, 'a file could not be removed; the next sweep retries it'),
      )
    }
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return swept
    after = last.id
  }
}

/** Removes a file that was not stored completely. A file whose commit succeeded without a confirmation is kept. */
async function discard(app: App, id: string): Promise<void> {
  if (await condemn(app, id)) await clear(app, id)
}

/**
 * {@link discard} now. If that fails, tries again in the background once the database is back, because the file counts against the quota
 * until then. After a second failure the sweep removes it. Never rejects.
 */
async function discardSoon(app: App, id: string): Promise<void> {
  try {
    await discard(app, id)
  } catch {
    const later = untilStored(app, () => condemn(app, id)).then((isUnwanted) => (isUnwanted ? clear(app, id) : undefined))
    later.catch(() => {})
  }
}

/** Marks a file that was not stored completely as removed. Returns true if its bytes are to be removed. */
async function condemn(app: App, id: string): Promise<boolean> {
  // Waits for a transaction that stores the file (row lock), and excludes every later one.
  const { count } = await app.db.media.updateMany({ where: { id, storedAt: null }, data: { removedAt: new Date() } })
  // The row goes with the workspace, which may end during the upload. No sweep finds the bytes that arrive after that.
  return count > 0 || (await app.db.media.count({ where: { id } })) === 0
}

/** Removes the bytes of a file and then its row, so that the sweep finds it again after a failure in between. */
async function clear(app: App, id: string): Promise<void> {
  await mediaStore(app).remove(id)
  await app.db.media.deleteMany({ where: { id, removedAt: { not: null } } })
}
