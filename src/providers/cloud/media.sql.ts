// SQL of uploads to Meta: one upload of a file for each number, under a lease.
import type { Sql } from '../../core/database/database.ts'

/** A number at Meta and a file of ours. */
export interface Upload {
  phoneNumberId: string
  mediaId: string
}

/** Meta keeps an upload for 30 days. */
const kept = `interval '29 days'`
export const expiredUploads = { table: 'cloud_media', where: `"createdAt" < now() - ${kept}` }

/** Meta's id of a file that was uploaded in the last 29 days (primary key). */
export async function readUpload(sql: Sql, { phoneNumberId, mediaId }: Upload): Promise<string | undefined> {
  const { rows } = await sql.query<{ graphId: string }>({
    name: 'cloud.uploaded',
    text: `select "graphId" from cloud_media
      where "phoneNumberId" = $1 and "mediaId" = $2 and "graphId" is not null and "uploadedAt" > now() - ${kept}`,
    values: [phoneNumberId, mediaId],
  })
  return rows[0]?.graphId
}

/** Takes the lease on an upload that is due and that nobody holds. Returns whether it did; the row lock decides between two processes. */
export async function claimUpload(sql: Sql, upload: Upload, token: string, leaseMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `insert into cloud_media as m ("phoneNumberId", "mediaId", token, "leaseUntil") values ($1, $2, $3, now() + $4 * interval '1 millisecond')
     on conflict ("phoneNumberId", "mediaId") do update
       set token = excluded.token, "leaseUntil" = excluded."leaseUntil", "graphId" = null, "uploadedAt" = null, "createdAt" = now()
     where case when m."graphId" is null then m."leaseUntil" < now() else m."uploadedAt" <= now() - ${kept} end`,
    [upload.phoneNumberId, upload.mediaId, token, leaseMs],
  )
  return rowCount === 1
}

/** Stores Meta's id, if the lease still holds (fencing token). */
export async function storeUpload(sql: Sql, upload: Upload, token: string, graphId: string): Promise<void> {
  await sql.query(
    `update cloud_media set "graphId" = $4, "uploadedAt" = now() where "phoneNumberId" = $1 and "mediaId" = $2 and token = $3`,
    [upload.phoneNumberId, upload.mediaId, token, graphId],
  )
}

/** Gives up a lease, so that the next message uploads the file. */
export async function releaseUpload(sql: Sql, upload: Upload, token: string): Promise<void> {
  await sql.query(`delete from cloud_media where "phoneNumberId" = $1 and "mediaId" = $2 and token = $3 and "graphId" is null`, [
    upload.phoneNumberId,
    upload.mediaId,
    token,
  ])
}

/** Forgets an upload that Meta does not know any more. */
export async function forgetUpload(sql: Sql, upload: Upload, graphId: string): Promise<void> {
  await sql.query('delete from cloud_media where "phoneNumberId" = $1 and "mediaId" = $2 and "graphId" = $3', [
    upload.phoneNumberId,
    upload.mediaId,
    graphId,
  ])
}
