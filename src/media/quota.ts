// Storage quota of a plan and its use: the sizes of all files in the workspaces of the paying owner.

import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { PlanLimits } from '../core/principal.ts'

/** The smallest file takes a disk block and a row. A plan therefore has one file for each of these bytes of its storage. */
const bytesPerFile = 10 * 1024

/**
 * Bytes and files of an owner. Files that are being stored or removed count, and files of a deleted team until they are gone, so that
 * the disk never holds more than the plan allows.
 */
export async function storedOf(sql: Sql, ownerId: string): Promise<{ bytes: number; files: number }> {
  const { rows } = await sql.query<{ bytes: number; files: number }>({
    name: 'media.storedOf',
    text: `select coalesce(sum(u.bytes), 0)::float8 as bytes, coalesce(sum(u.files), 0)::int as files
      from workspaces w join media_usage u on u."workspaceId" = w.id where w."ownerId" = $1`,
    values: [ownerId],
  })
  return rows[0] as { bytes: number; files: number }
}

/**
 * The bytes that one more file of the owner may have. Exact only while the subscription row is locked.
 * @throws MEDIA_STORAGE_EXCEEDED when no quota is left for another file.
 */
export async function quotaLeft(sql: Sql, ownerId: string, { maxMediaBytes }: PlanLimits): Promise<number> {
  const { bytes, files } = await storedOf(sql, ownerId)
  const maxFiles = Math.floor(maxMediaBytes / bytesPerFile)
  if (files >= maxFiles) fail('MEDIA_STORAGE_EXCEEDED', `The plan has room for ${maxFiles} files`)
  if (bytes >= maxMediaBytes) fail('MEDIA_STORAGE_EXCEEDED')
  return maxMediaBytes - bytes
}
