// How much a plan stores, and how much of that is taken: the sizes of all files in the workspaces of the owner who pays.
import type { PlanLimits } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'

/** The smallest file takes a block and a row, so that a plan has as many files as its bytes have of these. */
const bytesPerFile = 10 * 1024

/**
 * Bytes and files of an owner. What is being stored or removed counts, and so do the files of a deleted team until they are
 * gone, so that the disk never holds more than the plan has.
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
 * The bytes that a further file of the owner may have; exact where the subscription is held.
 * @throws MEDIA_STORAGE_EXCEEDED where there is no room for any.
 */
export async function quotaLeft(sql: Sql, ownerId: string, { maxMediaBytes }: PlanLimits): Promise<number> {
  const { bytes, files } = await storedOf(sql, ownerId)
  const maxFiles = Math.floor(maxMediaBytes / bytesPerFile)
  if (files >= maxFiles) fail('MEDIA_STORAGE_EXCEEDED', `The plan has room for ${maxFiles} files`)
  if (bytes >= maxMediaBytes) fail('MEDIA_STORAGE_EXCEEDED')
  return maxMediaBytes - bytes
}
