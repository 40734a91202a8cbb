// Storage quota of a plan and its use: the sizes of all files in the workspaces of the paying owner.
import { fail } from '../core/errors.ts'
import type { PlanLimits } from '../core/principal.ts'
import type { Prisma } from '../generated/prisma/client.ts'

/** The smallest file takes a disk block and a row. A plan therefore has one file for each of these bytes of its storage. */
const bytesPerFile = 10 * 1024

/**
 * Bytes and files of an owner. Files that are being stored or removed count, and files of a deleted team until they are gone, so that
 * the disk never holds more than the plan allows.
 */
export async function storedOf(db: Prisma.TransactionClient, ownerId: string): Promise<{ bytes: number; files: number }> {
  const { _sum } = await db.mediaUsage.aggregate({ where: { workspace: { ownerId } }, _sum: { bytes: true, files: true } })
  return { bytes: Number(_sum.bytes ?? 0), files: _sum.files ?? 0 }
}

/**
 * The bytes that one more file of the owner may have. Exact only while the subscription row is locked.
 * @throws MEDIA_STORAGE_EXCEEDED when no quota is left for another file.
 */
export async function quotaLeft(db: Prisma.TransactionClient, ownerId: string, { maxMediaBytes }: PlanLimits): Promise<number> {
  const { bytes, files } = await storedOf(db, ownerId)
  const maxFiles = Math.floor(maxMediaBytes / bytesPerFile)
  if (files >= maxFiles) fail('MEDIA_STORAGE_EXCEEDED', `The plan allows at most ${maxFiles} files`)
  if (bytes >= maxMediaBytes) fail('MEDIA_STORAGE_EXCEEDED')
  return maxMediaBytes - bytes
}
