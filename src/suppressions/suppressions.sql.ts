// SQL of suppressed numbers: whole sets by workspace and number. All rely on the unique index (workspaceId, phone).
import { arrayOf } from '../core/database/array-parameter.ts'
import type { Sql } from '../core/database/database.ts'
import { newId } from '../core/id.ts'
import type { Suppression } from '../generated/prisma/client.ts'

export interface Numbered {
  workspaceId: string
  phone: string
}

/** Tells if a number is suppressed; only of those that were asked for. */
export type IsSuppressed = (workspaceId: string, phone: string) => boolean

/** Looks up the numbers that are suppressed. */
export async function readSuppressed(sql: Sql, asked: readonly Numbered[]): Promise<IsSuppressed> {
  if (asked.length === 0) return () => false
  const { rows } = await sql.query<Numbered>({
    name: 'suppressions.read',
    text: `select "workspaceId", phone from suppressions
      where ("workspaceId", phone) in (select * from unnest(${arrayOf('$1', 'uuid')}, $2::text[]))`,
    values: [asked.map(({ workspaceId }) => workspaceId), asked.map(({ phone }) => phone)],
  })
  const found = new Set(rows.map(({ workspaceId, phone }) => `${workspaceId} ${phone}`))
  return (workspaceId, phone) => found.has(`${workspaceId} ${phone}`)
}

/** Adds the numbers that are not there yet, in their order in the index, and returns their records. */
export async function insertSuppressions(
  tx: Sql,
  numbers: readonly Numbered[],
  reason: Suppression['reason'],
): Promise<Suppression[]> {
  if (numbers.length === 0) return []
  const { rows } = await tx.query<Suppression>({
    name: 'suppressions.insert',
    text: `insert into suppressions (id, "workspaceId", phone, reason)
      select id, workspace, phone, $4 from unnest($1::uuid[], $2::uuid[], $3::text[]) as u(id, workspace, phone)
      order by workspace, phone
      on conflict ("workspaceId", phone) do nothing returning id, "workspaceId", phone, reason, "createdAt"`,
    values: [
      numbers.map(() => newId()),
      numbers.map(({ workspaceId }) => workspaceId),
      numbers.map(({ phone }) => phone),
      reason,
    ],
  })
  return rows
}

/** Takes numbers out of the list; returns how many were there. */
export async function deleteSuppressions(tx: Sql, numbers: readonly Numbered[]): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from suppressions where ("workspaceId", phone) in (select * from unnest($1::uuid[], $2::text[]))`,
    [numbers.map(({ workspaceId }) => workspaceId), numbers.map(({ phone }) => phone)],
  )
  return rowCount ?? 0
}

/**
 * Takes numbers out that were in the list when a keyword was written. Those that another keyword added are, because the caller has compared the
 * keywords. The other times are compared with that of the network, whose clock may be behind ours.
 */
export async function deleteListedBefore(tx: Sql, numbers: readonly Numbered[], writtenAt: Date): Promise<void> {
  await tx.query(
    `delete from suppressions where ("workspaceId", phone) in (select * from unnest($1::uuid[], $2::text[]))
       and (reason = 'keyword' or "createdAt" < $3::timestamptz + interval '1 minute')`,
    [numbers.map(({ workspaceId }) => workspaceId), numbers.map(({ phone }) => phone), writtenAt],
  )
}
