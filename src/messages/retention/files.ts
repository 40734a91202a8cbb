// Removes files of this gateway that belonged to deleted messages, unless something else uses them.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { lockForRemoval, markRemoved } from '../../media/media.sql.ts'
import { clearRemoved } from '../../media/service.ts'
import { nameIn, readName } from '../../media/url.ts'
import { unusedOf } from './files.sql.ts'

/**
 * Marks the files behind those of `urls` as removed that are media addresses of this gateway and that no message, template or campaign of
 * the workspace has. Returns the ids of the files for {@link clearFiles}, which follows the commit.
 */
export async function removeUnused(app: App, tx: Sql, workspaceId: string, urls: readonly (string | null)[]): Promise<string[]> {
  const own = [...new Set(urls.flatMap((url) => (url && nameIn(url, app.config) ? [url] : [])))]
  const tokensOf = (some: readonly string[]) => some.flatMap((url) => readName(nameIn(url, app.config) ?? '')?.token ?? [])
  const likely = own.length > 0 ? await unusedOf(tx, workspaceId, own) : []
  if (likely.length === 0) return []
  await lockForRemoval(tx, workspaceId, tokensOf(likely))
  // A message that was being accepted with one of them is stored by now.
  const unused = await unusedOf(tx, workspaceId, likely)
  return unused.length > 0 ? await markRemoved(tx, workspaceId, tokensOf(unused)) : []
}

/** Removes the bytes of files. If it fails, the sweep of media does. Never rejects. */
export async function clearFiles(app: App, ids: readonly string[]): Promise<void> {
  await clearRemoved(app, ids).catch((err: Error) =>
    app.log.warn({ err }, 'the bytes of files of deleted messages are removed later'),
  )
}
