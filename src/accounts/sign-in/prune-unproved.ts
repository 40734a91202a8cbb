// Accounts that nobody ever proved to be theirs: they go, so that an address that somebody else signed up with is free again.
import type pg from 'pg'
import { type Sql, transaction } from '../../core/database/database.ts'

const keptDays = 7
const pageSize = 500

/** What the database answers where something refers to a row that is to go: the first up to PostgreSQL 17, the second since. */
const isReferred = new Set(['23503', '23001'])

/** Deletes unproved accounts of more than a week that were never signed in and own nothing; answers how many. */
export async function pruneUnproved(pool: pg.Pool): Promise<number> {
  let deleted = 0
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const { rows } = await pool.query<{ id: string }>(
      `select u.id from users u where not u."emailVerified" and u."createdAt" < now() - make_interval(days => $1) and u.id > $2
         and not exists (select from auth_sessions s where s."userId" = u.id)
         and not exists (select from api_keys k where k."userId" = u.id) order by u.id limit $3`,
      [keptDays, after, pageSize],
    )
    for (const { id } of rows) if (await transaction(pool, (tx) => forget(tx, id)).catch(isInUse)) deleted++
    if (rows.length < pageSize) return deleted
    after = rows.at(-1)?.id as string
  }
}

/** Whether it is gone; whoever proves the address at the same time keeps it. Everything that somebody may own refers to them or to their workspace, and refuses. */
async function forget(tx: Sql, userId: string): Promise<boolean> {
  const { rowCount } = await tx.query('select from users where id = $1 and not "emailVerified" for update', [userId])
  if (!rowCount) return false
  await tx.query('delete from workspaces where "ownerId" = $1', [userId])
  await tx.query('delete from subscriptions where "userId" = $1', [userId])
  await tx.query('delete from users where id = $1', [userId])
  return true
}

function isInUse(error: { code?: string }): false {
  if (isReferred.has(error.code ?? '')) return false
  throw error
}
